// Writes the URL of each module that was loaded to the file that TELL_LOADED names, when the process ends: `node --import …`.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';

/** @type {string[]} */
const loaded = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.TELL_LOADED ?? '', loaded.join('\n')));
