import { createPlugin, type ExtismPluginOptions, type Manifest, type Plugin } from '@extism/extism';
import type { Client } from './client.ts';
import type { ListOptions } from './lists.ts';

/** Which plugin to run. */
export interface PluginSource extends ListOptions {
  readonly extensionPointId: string;
  readonly guestKey: string;
  /** Of several plugins; without it, the one that changed last. */
  readonly name?: string | undefined;
}

/** What Extism takes beside the module. */
export interface ExtismOptions extends ExtismPluginOptions {
  /** Everything that a manifest says but the module: `allowedHosts`, `config`, `timeoutMs`, … */
  readonly manifest?: Omit<Manifest, 'wasm'>;
}

/**
 * A plugin in Extism's runtime, ready to be called. The module is compiled once, however many plugins are made of it; each has a memory of its
 * own, and is to be closed by whoever has it made.
 *
 * ```ts
 * const plugin = await createExtismPlugin(client, { extensionPointId, guestKey }, { useWasi: true });
 * try {
 *   console.log((await plugin.call('greet', 'world'))?.text());
 * } finally {
 *   await plugin.close();
 * }
 * ```
 *
 * @throws ClientError as {@link Client.load} does; what Extism throws, as it is
 */
export async function createExtismPlugin(
  client: Pick<Client, 'load'>,
  { extensionPointId, guestKey, name, signal, maxAgeMs }: PluginSource,
  { manifest = {}, ...options }: ExtismOptions = {},
): Promise<Plugin> {
  const module = await client.load(extensionPointId, guestKey, name, { signal, maxAgeMs });
  return createPlugin({ ...manifest, wasm: [{ module }] }, options);
}
