import { createPlugin, type ExtismPluginOptions, type Manifest, type Plugin } from '@extism/extism';
import type { Client } from './client.ts';
import type { PluginKey } from './events.ts';
import type { CallOptions } from './lists.ts';

/** The options of Extism and of {@link Client.load}. */
export interface ExtismOptions extends ExtismPluginOptions, CallOptions {
  /** The manifest without the module: `allowedHosts`, `config`, `timeoutMs`, … */
  readonly manifest?: Omit<Manifest, 'wasm'>;
}

/**
 * Creates an instance of a plugin in Extism. `useWasi` is for plugins that import WASI. The module is compiled once for all instances. Each instance has its own memory, and the
 * caller must close it.
 *
 * ```ts
 * const plugin = await createExtismPlugin(client, { extensionPointId, guestKey, name });
 * try {
 *   console.log((await plugin.call('greet', 'world'))?.text());
 * } finally {
 *   await plugin.close();
 * }
 * ```
 *
 * @throws ClientError as {@link Client.load} does, and errors of Extism
 */
export async function createExtismPlugin(
  client: Pick<Client, 'load'>,
  key: PluginKey,
  { manifest = {}, signal, maxAgeMs, ...options }: ExtismOptions = {},
): Promise<Plugin> {
  const module = await client.load(key, { signal, maxAgeMs });
  return createPlugin({ ...manifest, wasm: [{ module }] }, options);
}
