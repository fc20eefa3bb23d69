// A host that loads a plugin twice through a disk store: node host-child.ts <directory> <base URL> <extension point> <guest key>
// The token is in the environment. Prints results, their sources and errors as JSON.
import process from 'node:process';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { addressOf } from './numbered-module.ts';

/** The result of one run. */
export interface HostReport {
  /** The content address of the received bytes. */
  readonly address: string;
  /** The source of the content. */
  readonly sources: readonly string[];
  /** The codes of `error` events, with those of the system. */
  readonly problems: readonly string[];
}

const [directory = '', baseUrl = '', extensionPointId = '', guestKey = ''] = process.argv.slice(2);

async function start(): Promise<HostReport> {
  const client = createClient({
    baseUrl,
    token: process.env.HOST_TOKEN ?? '',
    store: diskStore({ directory }),
    streaming: false,
  });
  const sources: string[] = [];
  const problems: string[] = [];
  client.on('lookup', ({ kind, source }) => {
    if (kind === 'content') sources.push(source);
  });
  client.on('error', ({ error }) => {
    const cause = error.cause as { readonly code?: string } | undefined;
    problems.push(cause?.code === undefined ? error.code : `${error.code}: ${cause.code}`);
  });
  const [binding] = Object.values((await client.getBindings({ extensionPointId, guestKey })).bindings);
  const bytes = await client.getContent(binding?.contentAddress ?? '');
  await client.close();
  return { address: addressOf(bytes), sources, problems };
}

process.stdout.write(JSON.stringify([await start(), await start()]));
