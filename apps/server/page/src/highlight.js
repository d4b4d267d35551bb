// Syntax highlighting of the most common languages with highlight.js.
import highlight from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) highlight.registerLanguage(name, language);
highlight.registerAliases(["c", "h"], { languageName: "cpp" });
highlight.registerAliases(["shell", "console"], { languageName: "bash" });

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for HTML. */
export const escaped = (text) => text.replace(/[&<>"']/g, (character) => entities[character]);

/** Returns code as highlighted HTML if its language is known. */
export function highlighted(code, language) {
  if (!highlight.getLanguage(language)) return escaped(code);
  return highlight.highlight(code, { language, ignoreIllegals: true }).value;
}
