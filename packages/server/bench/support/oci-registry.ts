import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kinds } from './cases.ts';
import { moduleOfSize } from './module-of-size.ts';
import { expect, freePort, type Peer, runProgram, startProgram } from './peer.ts';
import type { RequestKind } from './requests.ts';
import { contentSizes } from './stage.ts';

const manifestType = 'application/vnd.oci.image.manifest.v1+json';

/** The OCI distribution registry, from Debian: an artifact's manifest is the like of a binding list, its blob that of a plugin. */
export const ociRegistry: Peer = {
  name: 'OCI registry',
  async start(folder) {
    // Unpacked rather than installed: nothing of the machine is changed, and root is not needed.
    await runProgram('apt-get', ['download', '-q', 'docker-registry'], folder);
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb')) ?? '';
    await runProgram('dpkg-deb', ['-x', archive, 'unpacked'], folder);
    const port = await freePort();
    mkdirSync(join(folder, 'storage'));
    writeFileSync(join(folder, 'config.yml'), configurationOf(port));
    const url = `http://127.0.0.1:${port}`;
    const program = join(folder, 'unpacked/usr/bin/docker-registry');
    const { pid, stop } = await startProgram(program, ['serve', 'config.yml'], { folder, readyUrl: `${url}/v2/` });
    try {
      return { name: 'OCI registry', ports: [port], pids: [pid], storePids: [], kinds: await fill(url), stop };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};

const configurationOf = (port: number): string => `version: 0.1
log: { level: error, accesslog: { disabled: true } }
storage: { filesystem: { rootdirectory: ./storage }, cache: { blobdescriptor: inmemory } }
http: { addr: "127.0.0.1:${port}" }
`;

/** Pushes an artifact with two blobs. @returns what is asked for then */
async function fill(url: string): Promise<Kinds> {
  const blobs = [Buffer.from('{}'), moduleOfSize(contentSizes.small), moduleOfSize(contentSizes.medium)];
  const [config, ...layers] = await Promise.all(blobs.map((blob) => push(url, blob)));
  const manifest = { schemaVersion: 2, mediaType: manifestType, config, layers };
  const path = '/v2/bench/manifests/latest';
  const headers = { 'content-type': manifestType };
  await expect(201, url + path, { method: 'PUT', headers, body: JSON.stringify(manifest) });
  const accept = { accept: manifestType };
  const etag = (await expect(200, url + path, { headers: accept })).headers.get('etag') ?? '';
  const get: RequestKind = { name: 'manifest', weight: 1, method: 'GET', path, headers: accept, status: 200 };
  const blob = (at: number): RequestKind => ({
    ...get,
    name: 'blob',
    path: `/v2/bench/blobs/${layers[at]?.digest}`,
    headers: {},
    answerBytes: layers[at]?.size ?? 0,
  });
  return {
    'a2-304': [{ ...get, headers: { ...accept, 'if-none-match': etag }, status: 304 }],
    'a2-200': [get],
    'a3-64k': [blob(0)],
    'a3-1m': [blob(1)],
  };
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

async function push(url: string, blob: Uint8Array<ArrayBuffer>): Promise<Descriptor> {
  const digest = `sha256:${createHash('sha256').update(blob).digest('hex')}`;
  const begun = await expect(202, `${url}/v2/bench/blobs/uploads/`, { method: 'POST' });
  const target = new URL(begun.headers.get('location') ?? '', url);
  target.searchParams.set('digest', digest);
  const headers = { 'content-type': 'application/octet-stream' };
  await expect(201, target.href, { method: 'PUT', headers, body: blob });
  return { mediaType: 'application/octet-stream', digest, size: blob.length };
}
