import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { Response } from 'light-my-request';
import type { CallOptions, TestService } from './service.ts';
import { freshModule } from './world.ts';

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
export const configType = 'application/vnd.wasm.config.v0+json';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An image as a client makes it. */
export interface Image {
  readonly module: Buffer;
  readonly config: string;
  readonly manifest: string;
}

export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

export function descriptorOf(mediaType: string, bytes: Uint8Array | string): Descriptor {
  return { mediaType, digest: digestOf(bytes), size: Buffer.byteLength(bytes) };
}

/** Makes an image that is not the one that the server would compute. */
export function imageOf(module = freshModule(), fields: object = {}): Image {
  const config = JSON.stringify({
    created: '2026-01-02T03:04:05.678Z',
    author: 'ünï',
    architecture: 'wasm',
    os: 'wasip1',
    layerDigests: [digestOf(module)],
  });
  const layers = [descriptorOf('application/wasm', module)];
  const manifest = { schemaVersion: 2, mediaType: manifestType, config: descriptorOf(configType, config), layers };
  return { module, config, manifest: JSON.stringify({ ...manifest, ...fields }, undefined, 2) };
}

/** Pushes an image. @param repository the path of the repository below `/v2/` */
export async function pushImage(
  service: TestService,
  repository: string,
  tag: string,
  { module, config, manifest }: Image,
  options: CallOptions,
): Promise<Response> {
  for (const bytes of [module, config]) {
    const target = `/v2/${repository}/blobs/uploads/?digest=${digestOf(bytes)}`;
    const response = await service.call('POST', target, { ...options, body: bytes });
    assert.equal(response.statusCode, 201, response.payload);
  }
  const headers = { ...options.headers, 'content-type': manifestType };
  return service.call('PUT', `/v2/${repository}/manifests/${tag}`, { ...options, body: manifest, headers });
}

/** As {@link pushImage}, to a server that listens at a URL. */
export async function pushImageTo(
  url: string,
  token: string,
  repository: string,
  tag: string,
  { module, config, manifest }: Image,
): Promise<void> {
  const send = async (method: string, path: string, body: Uint8Array<ArrayBuffer> | string, contentType: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
    const response = await fetch(`${url}/v2/${repository}/${path}`, { method, body, headers });
    assert.equal(response.status, 201, await response.text());
  };
  for (const bytes of [Uint8Array.from(module), config]) {
    await send('POST', `blobs/uploads/?digest=${digestOf(bytes)}`, bytes, 'application/octet-stream');
  }
  await send('PUT', `manifests/${tag}`, manifest, manifestType);
}
