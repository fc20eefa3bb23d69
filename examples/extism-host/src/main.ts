// Fetches the plugin `greet`, loads it into the Extism runtime, and calls it: node src/main.ts [name]
import process from 'node:process';
import { createPlugin } from '@extism/extism';
import { fetchPlugin } from './fetch-plugin.ts';
import { readSource } from './settings.ts';

const bytes = await fetchPlugin(readSource(), 'greet');
const plugin = await createPlugin({ wasm: [{ data: bytes }] });
try {
  const output = await plugin.call('greet', process.argv[2] ?? 'world');
  console.log(output?.text());
} finally {
  await plugin.close();
}
