import { createHash } from 'node:crypto';

/** Where a plugin comes from. `quickstart.env` of a demo server holds all of it. */
export interface PluginSource {
  readonly url: string;
  readonly token: string;
  readonly extensionPointId: string;
  readonly guestKey: string;
}

/** Fetches the plugin that is bound to the guest key under a name, and checks that its bytes are those of its address. */
export async function fetchPlugin(source: PluginSource, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const { extensionPointId, guestKey } = source;
  const list = await get(source, `extension-points/${extensionPointId}/bindings/${encodeURIComponent(guestKey)}`);
  const bindings = (await list.json()) as Record<string, { contentAddress: string }>;
  const binding = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
  if (binding === undefined) throw new Error(`No plugin named ${name} is bound to ${guestKey}`);

  const content = await get(source, `c/${binding.contentAddress}`);
  const bytes = new Uint8Array(await content.arrayBuffer());
  const digest = createHash('sha256').update(bytes).digest('base64url');
  if (digest !== binding.contentAddress)
    throw new Error(`${name} is not what its address says: it hashes to ${digest}`);
  return bytes;
}

async function get({ url, token }: PluginSource, path: string): Promise<Response> {
  const response = await fetch(`${url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  return response;
}
