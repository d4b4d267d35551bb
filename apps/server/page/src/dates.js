// Formatting of dates.

const dayOf = (time) => new Date(time).setHours(0, 0, 0, 0);
const daysBetween = (time, now) => Math.round((dayOf(now) - dayOf(time)) / 86_400_000);

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayAndMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const month = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });
const all = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short" });

/** Returns the heading of the list for a time. */
export function periodOf(time, now = Date.now()) {
  const days = daysBetween(time, now);
  if (days < 1) return "Today";
  if (days === 1) return "Yesterday";
  return days < 7 ? "Previous 7 days" : month.format(time);
}

/** Returns the time for today, otherwise the date. */
export const shortDate = (time, now = Date.now()) =>
  (daysBetween(time, now) < 1 ? clock : dayAndMonth).format(time);

export const fullDate = (time) => all.format(time);
