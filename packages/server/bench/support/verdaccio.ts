import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Kinds } from './cases.ts';
import { moduleOfSize } from './module-of-size.ts';
import { expect, freePort, type Peer, runProgram, startProgram } from './peer.ts';
import type { RequestKind } from './requests.ts';
import { contentSizes } from './stage.ts';

const installed = {
  private: true,
  dependencies: { verdaccio: '6.10.4' },
  overrides: { 'node-fetch': '2.7.0' }, // it asks for a tag, which not every mirror knows
};

const configuration = `storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
packages: { '**': { access: $all, publish: $all } }
max_body_size: 50mb
web: { enable: false }
log: { type: stdout, format: json, level: fatal }
`;

/** A registry of npm packages: a package's metadata is the like of a binding list, its tarball that of a plugin. */
export const verdaccio: Peer = {
  name: 'Verdaccio',
  async start(folder) {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(installed));
    await runProgram('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], folder);
    writeFileSync(join(folder, 'config.yaml'), configuration);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const script = join(folder, 'node_modules/verdaccio/bin/verdaccio');
    const args = [script, '--config', 'config.yaml', '--listen', `127.0.0.1:${port}`];
    const { pid, stop } = await startProgram(process.execPath, args, { folder, readyUrl: `${url}/-/ping` });
    try {
      const small = await publish(url, 'small', moduleOfSize(contentSizes.small));
      const medium = await publish(url, 'medium', moduleOfSize(contentSizes.medium));
      const etag = (await expect(200, `${url}/small`)).headers.get('etag') ?? '';
      return { name: 'Verdaccio', ports: [port], pids: [pid], storePids: [], kinds: kinds(etag, small, medium), stop };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};

/** Publishes a package as npm does. @returns the path of its tarball */
async function publish(url: string, name: string, tarball: Uint8Array): Promise<string> {
  const [version, file] = ['1.0.0', `${name}-1.0.0.tgz`];
  const path = `/${name}/-/${file}`;
  const shasum = createHash('sha1').update(tarball).digest('hex');
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const manifest = { name, version, dist: { shasum, integrity, tarball: url + path } };
  const data = Buffer.from(tarball).toString('base64');
  const body = JSON.stringify({
    _id: name,
    name,
    'dist-tags': { latest: version },
    versions: { [version]: manifest },
    _attachments: { [file]: { content_type: 'application/octet-stream', data, length: tarball.length } },
  });
  await expect(201, `${url}/${name}`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body });
  return path;
}

function kinds(etag: string, small: string, medium: string): Kinds {
  const get: RequestKind = { name: 'metadata', weight: 1, method: 'GET', path: '/small', headers: {}, status: 200 };
  return {
    'a2-304': [{ ...get, headers: { 'if-none-match': etag }, status: 304 }],
    'a2-200': [get],
    'a3-64k': [{ ...get, name: 'tarball', path: small, answerBytes: contentSizes.small }],
    'a3-1m': [{ ...get, name: 'tarball', path: medium, answerBytes: contentSizes.medium }],
  };
}
