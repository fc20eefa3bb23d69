import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startServer } from './helpers/server.ts';

/** What the test uses of the existing client library for XTP. */
interface XtpClient {
  readonly extensionPoints: Record<
    string,
    Record<string, (guestKey: string, input: unknown, options: object) => Promise<unknown>>
  >;
  inviteGuest(guest: { readonly email: string; readonly name: string; readonly guestKey: string }): Promise<unknown>;
  close(): Promise<void>;
}

const fromProof = createRequire(join(import.meta.dirname, 'proof', 'package.json'));

/** It is not part of the workspace: `npm run proof` installs it. */
async function createXtpClient(options: object): Promise<XtpClient> {
  const entry = join(dirname(fromProof.resolve('@dylibso/xtp')), '..', 'esm', 'mod.js');
  const { default: createClient } = await import(pathToFileURL(entry).href);
  return createClient(options);
}

it("XTP's SDK works against Tenon when its base URL is changed, as its README uses it", async () => {
  const server = await startServer();
  const { TENON_URL, TENON_TOKEN, TENON_APP_ID, TENON_GUEST_KEY = '' } = server.quickstart;
  const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  const bindings = new Map<string, unknown>();
  const contents = new Map<string, unknown>();
  const keyOf = ({ extId, guestKey }: { readonly extId: string; readonly guestKey: string }) => `${extId} ${guestKey}`;
  const storage = {
    getBinding: async (place: Parameters<typeof keyOf>[0]) => bindings.get(keyOf(place)) ?? null,
    storeBinding: async (place: Parameters<typeof keyOf>[0], binding: unknown) => bindings.set(keyOf(place), binding),
    getArtifactContent: async (address: string) => contents.get(address) ?? null,
    storeArtifactContent: async (address: string, content: unknown) => contents.set(address, content),
  };
  const client = await createXtpClient({
    baseUrl: TENON_URL,
    appId: TENON_APP_ID,
    token: TENON_TOKEN,
    logger: silent,
    storage,
  });
  try {
    const answer = await client.extensionPoints.Greetings?.greet?.(TENON_GUEST_KEY, 'Ada', {
      bindingName: 'greet',
      default: '',
    });
    assert.equal(String(answer), 'Hello, Ada!');
    const absent = await client.extensionPoints.Greetings?.greet?.('nobody', 'Ada', { default: 'as usual' });
    assert.equal(absent, 'as usual');
    const invited = await client.inviteGuest({ email: 'grace@example.org', name: 'Grace', guestKey: 'customers/44' });
    assert.match(JSON.stringify(invited), /"status":"ok","link":".+accept-invite\?code=/);
  } finally {
    await client.close();
    await server.stop();
  }
});
