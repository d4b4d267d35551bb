// Makes what the server shows at "/" out of src: node build.js [FOLDER]. The folder is built/ unless told; its files are
// part of the repository, so that building spectr needs neither Node nor a network.
import { build } from "esbuild";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "built");

/** The packages whose code is part of the page, by name. */
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
  legalComments: "none",
  logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(folder, "index.html"));
const licences = await Promise.all(packagesOf(metafile).map(licenceOf));
const beginning =
  "Libraries that are part of the page, and their licences. All else is spectr's own (Apache-2.0).\n";
await writeFile(join(folder, "licences.txt"), [beginning, ...licences].join(`\n${"-".repeat(100)}\n\n`));
