// Exercises a package from a command line: deno run … exercise-files.mjs <exercise.mjs> <package-entry> <name>=<module.wasm> …
// Node's own modules serve to read files here; Deno and Bun have them too. The package itself needs none.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const [script = '', entry = '', ...files] = process.argv.slice(2);
/** @type {Record<string, Uint8Array>} */
const modules = {};
for (const file of files) {
  const at = file.indexOf('=');
  modules[file.slice(0, at)] = new Uint8Array(await readFile(file.slice(at + 1)));
}
const { exercise } = await import(new URL(script, import.meta.url).href);
console.log(JSON.stringify(await exercise(pathToFileURL(entry).href, modules)));
