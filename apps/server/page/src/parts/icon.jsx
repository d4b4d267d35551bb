// The icons of the page, drawn as lines on a 24 × 24 grid.
const lines = {
  add: "M12 5v14M5 12h14",
  again: "M19.5 12a7.5 7.5 0 1 1-2.2-5.3L20 9M20 4v5h-5",
  attach:
    "M19 11.5l-7.2 7.2a4.4 4.4 0 0 1-6.2-6.2l7.7-7.7a2.9 2.9 0 0 1 4.1 4.1l-7.6 7.6a1.4 1.4 0 0 1-2-2l6.6-6.6",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  delete: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 10.5v6M13.5 10.5v6",
  done: "M5 13l4.5 4.5L19 7.5",
  down: "M12 5v14M6 13l6 6 6-6",
  drafting: "M4 6h7M15 6h5M4 12h3M11 12h9M4 18h10M18 18h2",
  edit: "M4 20l.9-4.2L16.5 4.2l3.3 3.3L8.2 19.1zM14 6.7l3.3 3.3",
  file: "M7 3.5h7l4 4v13H7zM14 3.5v4h4",
  left: "M14.5 6l-6 6 6 6",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  on: "M5 6l6 6-6 6M13 6l6 6-6 6",
  right: "M9.5 6l6 6-6 6",
  send: "M12 19V5M6 11l6-6 6 6",
  settings:
    "M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM8 14.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  stop: "M7 7h10v10H7z",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
};

/** A decorative icon, hidden from screen readers; the button's name describes it. */
export function Icon({ name }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={lines[name]} />
    </svg>
  );
}

/** A button with only an icon. Its name is also its tooltip. */
export function IconButton({ icon, name, class: kind = "", ...rest }) {
  return (
    <button type="button" class={`quiet ${kind}`} aria-label={name} title={name} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
