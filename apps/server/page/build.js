// Builds the page that the server shows at "/" from src: node build.js [FOLDER]. The output folder is built/ by default.
// It is part of the repository, so that building spectr needs neither Node nor a network.
import { build } from "esbuild";
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "built");

/** The names of the packages whose code is part of the page. */
const packagesOf = ({ inputs }) =>
  [
    ...new Set(
      Object.keys(inputs).flatMap((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []),
    ),
  ].sort();

async function licenceOf(name) {
  const home = join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(home, "package.json")));
  const [file] = (await readdir(home)).filter((one) => /^licen[cs]e(\.\w+)?$/i.test(one));
  const text = await readFile(join(home, file), "utf8");
  return `${name} ${version} (${license})\n\n${text.replace(/[ \t]+$/gm, "").trim()}\n`;
}

/** KaTeX fonts that formulas rarely use. The browser synthesizes them from the regular ones. */
const rareFaces = /Caligraphic-Bold|Fraktur-Bold|Main-BoldItalic|SansSerif-(?:Bold|Italic)/;

/** KaTeX's style sheet with one embedded format of each required font. */
const katexStyles = {
  name: "katex-styles",
  setup({ onLoad }) {
    onLoad({ filter: /katex\.css$/ }, async ({ path }) => {
      const sheet = await readFile(path, "utf8");
      const contents = sheet
        .replace(/@font-face\s*\{[^}]*\}/g, (face) => (rareFaces.test(face) ? "" : face))
        .replace(/,\s*url\([^)]*\)\s*format\(["'](?:woff|truetype)["']\)/g, "");
      return { contents, loader: "css" };
    });
  },
};

const maxBytes = 1_000_000;

/** Fails if the page is too large to be embedded in the program. */
async function checkSize() {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > maxBytes) throw new Error(`the page has ${bytes} bytes; at most ${maxBytes} are allowed`);
}

await mkdir(folder, { recursive: true });
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.jsx", style: "src/styles/page.css" },
  outdir: folder,
  entryNames: "page",
  bundle: true,
  minify: true,
  metafile: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox128", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".woff2": "dataurl" },
  plugins: [katexStyles],
  legalComments: "none",
  logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(folder, "index.html"));
const fontsLicence = await readFile(join(here, "src/fonts_licence.txt"), "utf8");
const licences = [...(await Promise.all(packagesOf(metafile).map(licenceOf))), fontsLicence];
const beginning =
  "Libraries and fonts that are part of the page, and their licences. All else is spectr's own (Apache-2.0).\n";
await writeFile(join(folder, "licences.txt"), [beginning, ...licences].join(`\n${"-".repeat(100)}\n\n`));
await checkSize();
