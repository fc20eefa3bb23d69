import process from 'node:process';
import { serveTasks } from '../../src/workers/serve-tasks.ts';

/** The tasks of the pool's tests. */
export type PoolTask = 'echo' | 'spin' | 'validate' | 'crash' | 'exit' | 'hoard' | 'last' | 'environment';

/** A module that the engine validates for minutes: a thousand functions of 7 bytes, each with 50,000 locals, a hundred times over. */
function slowModule(): Uint8Array<ArrayBuffer> {
  const count = 1_000_000;
  const leb = (value: number) => [value | 0x80, (value >> 7) | 0x80, (value >> 14) & 0x7f].map((byte) => byte & 0xff);
  const body = [6, 1, ...leb(50_000), 0x7f, 0x0b];
  const sized = (id: number, bytes: Uint8Array) => [Uint8Array.of(id, 0, 0, 0, 0, 0), bytes] as const;
  const sections = [
    sized(1, Uint8Array.of(1, 0x60, 0, 0)),
    sized(3, Buffer.concat([Uint8Array.from(leb(count)), Buffer.alloc(count)])),
    sized(10, Buffer.concat([Uint8Array.from(leb(count)), Buffer.alloc(count * body.length, Uint8Array.from(body))])),
  ];
  for (const [head, bytes] of sections) {
    for (let at = 0, rest = bytes.length; at < 5; at++, rest = Math.floor(rest / 128)) {
      head[at + 1] = (rest & 0x7f) | (at < 4 ? 0x80 : 0);
    }
  }
  return new Uint8Array(Buffer.concat([Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0), ...sections.flat()]));
}

serveTasks<PoolTask, number>((task) => {
  if (task === 'spin') for (;;);
  if (task === 'validate') WebAssembly.validate(slowModule());
  if (task === 'crash') throw new Error('as told');
  if (task === 'exit') process.exit(3);
  if (task === 'hoard') for (const all: object[][] = []; ; ) all.push(Array.from({ length: 1e5 }, (_, at) => ({ at })));
  const result = task === 'environment' ? Object.keys(process.env).length : process.pid;
  return { result, shouldRecycle: task === 'last' };
});
