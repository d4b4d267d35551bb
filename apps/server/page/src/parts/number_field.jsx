import { useLayoutEffect, useRef } from "preact/hooks";

/** Formats the number. Does not change the field while it is being typed ("0.", "-"). */
function Figure({ value, ...rest }) {
  const field = useRef();
  useLayoutEffect(() => {
    if (document.activeElement !== field.current) field.current.value = value ?? "";
  }, [value]);
  return <input type="number" class="figure" ref={field} {...rest} />;
}

/**
 * A number with a server default. rule: a row of settings.js; fallback: the server's value, shown if `value` is undefined;
 * change: receives a number, or undefined if the field is empty.
 */
export function NumberField({ rule, id = rule.name, value, fallback, disabled, change }) {
  const { label, hint, min, max, step, slider, placeholder = "none" } = rule;
  const shown = value ?? fallback;
  const read = (event) => change(event.target.value === "" ? undefined : event.target.valueAsNumber);
  const described = hint ? `${id}-hint` : undefined;
  const common = { min, step, disabled, "aria-describedby": described };
  return (
    <div class={value === undefined ? "number" : "number chosen"}>
      <label for={id}>{label}</label>
      <Figure
        id={id}
        max={max}
        value={value}
        placeholder={fallback ?? placeholder}
        onInput={read}
        {...common}
      />
      {slider !== undefined && (
        <input
          type="range"
          aria-label={label}
          max={Math.max(slider, shown ?? 0)}
          value={shown ?? slider}
          onInput={read}
          {...common}
        />
      )}
      {hint && (
        <p class="hint" id={described}>
          {hint}
        </p>
      )}
    </div>
  );
}
