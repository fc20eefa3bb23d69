// Runs the client's exercise from a command line: deno run … client-exercise-task.mjs <package-entry> <task.json>
// The process exits by itself after `close()`, unless the client leaves work running.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { exercise } from './client-exercise.mjs';

const [entry = '', file = ''] = process.argv.slice(2);
const task = JSON.parse(await readFile(file, 'utf8'));
console.log(JSON.stringify(await exercise(pathToFileURL(entry).href, task)));
