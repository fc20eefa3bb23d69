import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunMessage } from './messages.ts';
import { createOutputBuffer } from './output-buffer.ts';

function gathered() {
  const messages: RunMessage[] = [];
  let nowMs = 0;
  const buffer = createOutputBuffer(
    (message) => messages.push(message),
    () => nowMs,
  );
  const text = (stream: 'stdout' | 'stderr'): string =>
    messages
      .flatMap((message) => (message.kind === 'output' && message.stream === stream ? [message.bytes] : []))
      .map((bytes) => Buffer.from(bytes).toString())
      .join('');
  return { buffer, messages, text, wait: (ms: number) => (nowMs += ms) };
}

describe('createOutputBuffer()', () => {
  it('tells on what came, in few messages, each stream apart', () => {
    const { buffer, messages, text, wait } = gathered();
    for (let line = 0; line < 100; line++) buffer.write(line % 2 === 0 ? 'stdout' : 'stderr', Buffer.from(`${line}\n`));
    assert.equal(messages.length, 0, 'nothing has waited long, nor is it much');
    wait(60);
    buffer.write('stdout', Buffer.from('last'));
    assert.equal(messages.length, 2);
    assert.ok(text('stdout').startsWith('0\n2\n') && text('stdout').endsWith('98\nlast'));
    assert.ok(text('stderr').startsWith('1\n3\n'));
    buffer.flush();
    assert.equal(messages.length, 2, 'nothing was left');
  });

  it('does not wait where much has come', () => {
    const { buffer, messages } = gathered();
    buffer.write('stderr', new Uint8Array(16 * 1024));
    assert.equal(messages.length, 1);
  });

  it('keeps a bounded part of each stream, and says once that there was more', () => {
    const { buffer, messages, text } = gathered();
    for (let round = 0; round < 30; round++) buffer.write('stdout', new Uint8Array(10_000).fill(0x61));
    buffer.write('stderr', Buffer.from('still'));
    buffer.flush();
    assert.equal(text('stdout').length, 256 * 1024);
    assert.equal(text('stderr'), 'still');
    assert.equal(messages.filter(({ kind }) => kind === 'cut').length, 1);
  });

  it('keeps what a program overwrites afterwards', () => {
    const { buffer, text } = gathered();
    const memory = new TextEncoder().encode('first');
    buffer.write('stdout', memory);
    memory.fill(0);
    buffer.flush();
    assert.equal(text('stdout'), 'first');
  });
});
