import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunMessage } from './messages.ts';
import { createOutputBuffer } from './output-buffer.ts';

function collected() {
  const messages: RunMessage[] = [];
  let nowMs = 0;
  const buffer = createOutputBuffer(
    (message) => messages.push(message),
    () => nowMs,
  );
  const text = (stream: 'stdout' | 'stderr'): string =>
    messages
      .flatMap((message) => (message.kind === 'output' && message.stream === stream ? [message.text] : []))
      .join('');
  return { buffer, messages, text, wait: (ms: number) => (nowMs += ms) };
}

describe('createOutputBuffer()', () => {
  it('sends output in few messages, each stream apart', () => {
    const { buffer, messages, text, wait } = collected();
    for (let line = 0; line < 100; line++) buffer.write(line % 2 === 0 ? 'stdout' : 'stderr', Buffer.from(`${line}\n`));
    assert.equal(messages.length, 0, 'little output, and little time');
    wait(60);
    buffer.write('stdout', Buffer.from('last'));
    assert.equal(messages.length, 2);
    assert.ok(text('stdout').startsWith('0\n2\n') && text('stdout').endsWith('98\nlast'));
    assert.ok(text('stderr').startsWith('1\n3\n'));
    buffer.flush();
    assert.equal(messages.length, 2, 'nothing was left');
  });

  it('sends much output at once', () => {
    const { buffer, messages } = collected();
    buffer.write('stderr', new Uint8Array(16 * 1024));
    assert.equal(messages.length, 1);
  });

  it('limits each stream, and reports the cut once', () => {
    const { buffer, messages, text } = collected();
    for (let round = 0; round < 30; round++) buffer.write('stdout', new Uint8Array(10_000).fill(0x61));
    buffer.write('stderr', Buffer.from('still'));
    buffer.flush();
    assert.equal(text('stdout').length, 256 * 1024);
    assert.equal(text('stderr'), 'still');
    assert.equal(messages.filter(({ kind }) => kind === 'cut').length, 1);
  });

  it('joins characters that are split between writes', () => {
    const { buffer, text } = collected();
    const bytes = new TextEncoder().encode('é');
    buffer.write('stdout', bytes.subarray(0, 1));
    buffer.flush();
    buffer.write('stdout', bytes.subarray(1));
    buffer.flush();
    assert.equal(text('stdout'), 'é');
  });

  it('keeps output that the program overwrites', () => {
    const { buffer, text } = collected();
    const memory = new TextEncoder().encode('first');
    buffer.write('stdout', memory);
    memory.fill(0);
    buffer.flush();
    assert.equal(text('stdout'), 'first');
  });
});
