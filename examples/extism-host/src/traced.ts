// The same with the plugin's calls, which it prints to stderr: node src/traced.ts [input] [plugin]
import process from 'node:process';
import { createPlugin } from '@extism/extism';
import { instrument } from '@tenon/instrument';
import { type Span, start } from '@tenon/trace';
import { extismFunctions } from '@tenon/trace/extism';
import { treeText } from '@tenon/trace/formats';
import { fetchPlugin } from './fetch-plugin.ts';
import { readSource } from './settings.ts';

const [input = 'world', name = 'greet'] = process.argv.slice(2);
const { bytes } = instrument(await fetchPlugin(readSource(), name));
const trace = start(bytes, {
  spanFilter: { minDurationMicroseconds: 0 },
  exporters: [{ export: (spans: readonly Span[]) => console.error(treeText(spans)) }],
});

const plugin = await createPlugin({ wasm: [{ data: bytes }] }, { functions: extismFunctions(trace) });
try {
  const output = await plugin.call('greet', input);
  console.log(output?.text());
} finally {
  await plugin.close();
  await trace.shutdown();
}
