import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createParsedSchemas } from './parsed-schemas.ts';
import { toExtensionPoint } from './plugin-wire.ts';

const textOf = (name: string, chars: number): string =>
  JSON.stringify({ exports: [], description: name.padEnd(chars) });

describe('stored schemas', () => {
  it('are parsed once for many responses', (deps) => {
    const parse = deps.mock.method(JSON, 'parse');
    const times = { createdAtMs: 0, updatedAtMs: 0 };
    const schemaJson = textOf('once for many answers', 100);
    const responses = Array.from({ length: 50 }, () =>
      toExtensionPoint({ schemaJson, limits: {}, imports: {}, ...times } as never, true),
    );
    assert.equal(parse.mock.callCount(), 1);
    assert.equal(JSON.stringify(responses[49]?.schema), schemaJson);
  });

  it('are evicted when they are the least recently used', () => {
    const parse = mock.fn(JSON.parse);
    const parsed = createParsedSchemas(parse);
    const texts = Array.from({ length: 12 }, (_, at) => textOf(`schema ${at}`, 250_000)); // 8 fit
    for (const text of texts) {
      parsed(text);
      parsed(texts[0] as string);
    }
    assert.equal(parse.mock.callCount(), 12, 'the first was in use all the time');
    parsed(texts[11] as string);
    assert.equal(parse.mock.callCount(), 12);
    parsed(texts[1] as string);
    assert.equal(parse.mock.callCount(), 13);
  });

  it('that are larger than the cache are parsed each time', () => {
    const parse = mock.fn(JSON.parse);
    const parsed = createParsedSchemas(parse);
    const large = textOf('large', 3 * 1024 * 1024);
    for (let at = 0; at < 2; at++) assert.equal(JSON.stringify(parsed(large)), large);
    assert.equal(parse.mock.callCount(), 2);
  });
});
