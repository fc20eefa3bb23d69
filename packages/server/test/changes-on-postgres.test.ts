import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AppId, ExtensionPointId } from '@tenon/protocol';
import type { Config } from '../src/config/config.ts';
import { type EventStream, openEvents, type ReceivedEvent } from './helpers/event-stream.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, type SharedPostgres, sharedPostgres } from './helpers/postgres.ts';
import { openService, type TestService } from './helpers/service.ts';

const transactions = 60;

describe('change events of two nodes on one PostgreSQL', { skip: noPostgres }, () => {
  let postgres: SharedPostgres;
  let nodes: readonly [TestService, TestService];
  let workshop: Workshop;
  let url: string;
  const streams: EventStream[] = [];

  before(async () => {
    postgres = await sharedPostgres();
    const config: Partial<Config> = { databaseUrl: (await postgres.createDatabase()).url, databaseConnections: 4 };
    nodes = await Promise.all([openService({ config }), openService({ config })]);
    workshop = await openWorkshop(nodes[0]);
    url = `${await nodes[1].listen()}/api/v1/apps/${workshop.appId}/changes`;
  });
  after(async () => {
    for (const stream of streams) await stream.close();
    await Promise.allSettled(nodes.map((node) => node.close()));
  });

  async function open(lastId?: string): Promise<EventStream> {
    const token = workshop.viewer.token;
    const stream = await openEvents(url, { token, ...(lastId === undefined ? {} : { lastId }) });
    streams.push(stream);
    return stream;
  }

  const serialOf = ({ id }: ReceivedEvent) => Number(id.split('-')[0]);
  const keyOf = ({ data }: ReceivedEvent) => (data as { guestKey: string }).guestKey;

  /** Two lists in one transaction, which reads what the others' write, too. */
  function tell(node: TestService, number: number): Promise<void> {
    const appId = workshop.appId as AppId;
    const extensionPointId = workshop.extensionPointId as ExtensionPointId;
    const lists = ['a', 'b'].map((half) => ({ extensionPointId, guestKey: `${number}${half}` }));
    return node.store.write(async (tx) => {
      await tx.changeHeads([appId]);
      await tx.insertChanges(appId, lists, { mark: `m${number}`, atMs: 1, keep: 10_000 });
    });
  }

  it('have ids without gaps, are sent once and in order, and are replayed the same, despite concurrent writers', async () => {
    const stream = await open();
    const [ready] = await stream.take(1);
    assert.equal(ready?.event, 'ready');
    const numbers = Array.from({ length: transactions }, (_, number) => number);
    await Promise.all(numbers.map((number) => tell(nodes[number % 2] as TestService, number)));
    const reported = await stream.take(2 * transactions);
    assert.deepEqual(
      reported.map(serialOf),
      reported.map((_, index) => serialOf(ready) + 1 + index),
    );
    assert.deepEqual(reported.map(keyOf).sort(), numbers.flatMap((number) => [`${number}a`, `${number}b`]).sort());
    for (let at = 0; at < reported.length; at += 2) {
      const [first, second] = reported.slice(at, at + 2).map(keyOf);
      assert.equal(`${Number.parseInt(first ?? '', 10)}b`, second);
    }
    const all = [ready, ...reported];
    for (const had of [0, 1, 77]) {
      const missed = all.slice(had + 1);
      assert.deepEqual(await (await open(all[had]?.id)).take(missed.length), missed);
    }
  });

  it('starts over for an id of another application', async () => {
    const foreign = await openWorkshop(nodes[0]);
    await foreign.publish(1);
    const lastId = (await (await open()).take(1))[0]?.id;
    const stream = await openEvents(url.replace(workshop.appId, foreign.appId), {
      token: foreign.viewer.token,
      ...(lastId === undefined ? {} : { lastId }),
    });
    streams.push(stream);
    assert.deepEqual(
      (await stream.take(2)).map(({ event }) => event),
      ['reset', 'ready'],
    );
  });
});
