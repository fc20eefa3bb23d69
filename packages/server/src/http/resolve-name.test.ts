import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { resolveName } from './resolve-name.ts';

/** DNS record types: https://www.iana.org/assignments/dns-parameters */
const types = { a: 1, aaaa: 28 } as const;
const nameError = 3;

describe('resolveName()', () => {
  it('returns the addresses of both families, or those of the one that there is', async (test) => {
    const servers = await openNameServer(test, (type) => (type === types.a ? [[8, 8, 8, 8]] : [v6]));
    assert.deepEqual(await resolveName('both.example.org', { servers }), [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:50c0:8000::153', family: 6 },
    ]);
    const only = await openNameServer(test, (type) => (type === types.a ? undefined : [v6]));
    assert.deepEqual(await resolveName('one.example.org', { servers: only }), [
      { address: '2606:50c0:8000::153', family: 6 },
    ]);
  });

  it('fails for a name that does not exist', async (test) => {
    const servers = await openNameServer(test, () => undefined);
    await assert.rejects(resolveName('missing.example.org', { servers }), { code: 'ENOTFOUND' });
  });

  it('holds up no other work while name servers do not respond, and ends', async (test) => {
    const servers = await openNameServer(test, () => 'silence');
    let pending = 16;
    const lookups = Array.from({ length: pending }, async (_, index) => {
      await assert.rejects(resolveName(`${index}.example.org`, { servers, timeoutMs: 150 }), { code: 'ETIMEOUT' });
      pending--;
    });
    await readFile(import.meta.filename);
    assert.equal(pending, lookups.length);
    await Promise.all(lookups);
  });
});

const v6 = [0x26, 0x06, 0x50, 0xc0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x53];

/** Opens a name server: the addresses by record type, `undefined` for a name that does not exist. */
async function openNameServer(
  test: { after(close: () => void): void },
  addressesOf: (type: number) => readonly (readonly number[])[] | undefined | 'silence',
): Promise<string[]> {
  const socket: Socket = createSocket('udp4', (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5; // the name, the type, and the class
    const found = addressesOf(query.readUInt16BE(end - 4));
    if (found === 'silence') return;
    const header = Buffer.from([0, 0, 0x81, 0x80 | (found ? 0 : nameError), 0, 1, 0, found?.length ?? 0, 0, 0, 0, 0]);
    query.copy(header, 0, 0, 2);
    const records = (found ?? []).map((bytes) =>
      Buffer.from([0xc0, 12, ...query.subarray(end - 4, end), 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    );
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  test.after(() => socket.close());
  return [`127.0.0.1:${socket.address().port}`];
}
