/** A selection among names. options: names, or pairs of a value and its label. */
export function Choice({ id, label, value, options, disabled, describedBy, change }) {
  return (
    <div>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={disabled}
        aria-describedby={describedBy}
        onChange={(event) => change(event.target.value)}
      >
        {options.map((option) => {
          const [name, text] = Array.isArray(option) ? option : [option, option];
          return (
            <option key={name} value={name} selected={name === value}>
              {text}
            </option>
          );
        })}
      </select>
    </div>
  );
}
