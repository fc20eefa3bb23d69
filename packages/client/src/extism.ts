import { createPlugin, type ExtismPluginOptions, type Manifest, type Plugin } from '@extism/extism';
import type { PluginKey } from './events.ts';
import type { CallOptions } from './lists.ts';
import { loadReported, type PluginSource } from './reported-plugin.ts';

/** The options of Extism and of `load()` of a client. */
export interface ExtismOptions extends ExtismPluginOptions, CallOptions {
  /** The manifest without the module: `allowedHosts`, `config`, `timeoutMs`, … */
  readonly manifest?: Omit<Manifest, 'wasm'>;
}

/**
 * Creates an instance of a plugin in Extism. `useWasi` is for plugins that import WASI. The module is compiled once for all instances. Each instance has its own memory, and the
 * caller must close it. With the client's option `reports`, its calls are reported.
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
 * @throws ClientError as `load()` of the client does, and errors of Extism
 */
export async function createExtismPlugin(
  client: PluginSource,
  key: PluginKey,
  { manifest = {}, signal, maxAgeMs, ...options }: ExtismOptions = {},
): Promise<Plugin> {
  const { module, report } = await loadReported(client, key, { signal, maxAgeMs });
  return report(await createPlugin({ ...manifest, wasm: [{ module }] }, options));
}
