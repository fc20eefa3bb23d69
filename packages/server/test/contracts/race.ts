import { UnavailableError } from '../../src/db/store.ts';
import { addressOfBytes, assertSameBytes, bytesOf, collect } from '../helpers/bytes.ts';
import type { Publisher } from './publisher.ts';

/** The bytes that all racers publish: few enough that they are at the same ones all the time. */
export const contents: readonly Uint8Array[] = Array.from({ length: 4 }, (_, at) => bytesOf(1000 + at, 20_000));

/**
 * Publishes the contents over and over, each under a name of its own, demands after each answer that the bytes are there, and
 * removes the plugin again, which leaves them to nobody or to another racer.
 *
 * @returns how many publishes were answered
 */
export async function publishAndRemove(publisher: Publisher, name: string, isOver: () => boolean): Promise<number> {
  let published = 0;
  while (!isOver()) {
    const at = published % contents.length;
    const bytes = contents[at] as Uint8Array;
    const plugin = `${name}-${at}`;
    if (!(await wasAnswered(publisher.publishBytes(plugin, bytes)))) continue;
    const found = await collect(await publisher.open(addressOfBytes(bytes)));
    assertSameBytes(found, bytes, `what ${plugin} has published`);
    // Every third one stays: what is named by it is named until its next round.
    if (published % 3 !== 0) await publisher.remove(plugin);
    published++;
  }
  return published;
}

/** Whether a publish succeeded, and was not rejected with a retry: collectors without any grace may delete the bytes each time that it stores them. */
async function wasAnswered(publish: Promise<unknown>): Promise<boolean> {
  try {
    await publish;
    return true;
  } catch (error) {
    if (error instanceof UnavailableError) return false;
    throw error;
  }
}
