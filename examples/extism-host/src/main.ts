// Fetches a plugin (`greet`), loads it into the Extism runtime, calls its export `greet`: node src/main.ts [input] [plugin]
import process from 'node:process';
import { createPlugin } from '@extism/extism';
import { fetchPlugin } from './fetch-plugin.ts';
import { readSource } from './settings.ts';

const [input = 'world', name = 'greet'] = process.argv.slice(2);
const bytes = await fetchPlugin(readSource(), name);
const plugin = await createPlugin({ wasm: [{ data: bytes }] });
try {
  const output = await plugin.call('greet', input);
  console.log(output?.text());
} finally {
  await plugin.close();
}
