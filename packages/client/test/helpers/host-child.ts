// A host that loads one plugin with files in a folder, twice over: node host-child.ts <directory> <base URL> <extension point> <guest key>
// The token comes in the environment. It tells what it found, where, and what went wrong beside it, as JSON.
import process from 'node:process';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { addressOf } from './numbered-module.ts';

/** What one start of the host came to. */
export interface HostReport {
  /** The content address of the bytes that it got. */
  readonly address: string;
  /** Where the content came from. */
  readonly sources: readonly string[];
  /** The codes of what went wrong beside the calls, with those of the system. */
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
