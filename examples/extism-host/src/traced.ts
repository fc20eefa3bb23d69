// The same with a plugin that has been instrumented, and prints its calls to stderr: node src/traced.ts [input] [plugin]
import process from 'node:process';
import { createPlugin } from '@extism/extism';
import { fetchPlugin } from './fetch-plugin.ts';
import { readSource, variable } from './settings.ts';

const [input = 'world', name = 'greet'] = process.argv.slice(2);
const form = new FormData();
form.set('wasm', new Blob([await fetchPlugin(readSource(), name)]), 'plugin.wasm');
const response = await fetch(`${variable('TENON_URL')}/instrument`, {
  method: 'POST',
  headers: { authorization: `Bearer ${variable('TENON_API_KEY')}` },
  body: form,
});
if (!response.ok) throw new Error(`POST /instrument: ${response.status} ${await response.text()}`);

// What an instrumented module imports. Extism hands its own context to a host function first.
let depth = 0;
const observe = {
  enter: (_: unknown, index: number) => console.error(`${'  '.repeat(depth++)}→ function ${index}`),
  exit: (_: unknown, index: number) => console.error(`${'  '.repeat(--depth)}← function ${index}`),
  'memory-grow': (_: unknown, pages: number) => console.error(`${'  '.repeat(depth)}memory grew by ${pages} pages`),
};

const plugin = await createPlugin(
  { wasm: [{ data: new Uint8Array(await response.arrayBuffer()) }] },
  { functions: { 'dylibso:observe/instrument': observe } },
);
try {
  const output = await plugin.call('greet', input);
  console.log(output?.text());
} finally {
  await plugin.close();
}
