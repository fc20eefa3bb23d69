import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMultipart } from './multipart.ts';

const text = (lines: readonly string[]) => Buffer.from(lines.join('\r\n'), 'latin1');
const parse = (lines: readonly string[], maxParts = 8) =>
  parseMultipart(text(lines), 'b', maxParts).map(({ name, bytes }) => [name, Buffer.from(bytes).toString('latin1')]);

describe('parseMultipart()', () => {
  it('parses parts, ignoring file names and content types', () => {
    const parts = parse([
      '--b',
      'Content-Disposition: form-data; name="wasm"; filename="../../a.wasm"',
      'Content-Type: application/octet-stream',
      '',
      'bytes\r\nwith breaks',
      '--b',
      'content-disposition: form-data; name=config',
      '',
      '{}',
      '--b--',
      '',
    ]);
    assert.deepEqual(parts, [
      ['wasm', 'bytes\r\nwith breaks'],
      ['config', '{}'],
    ]);
  });

  it('ignores a preamble, an epilogue and padding', () => {
    const lines = [
      'hello',
      '--b \t',
      'content-disposition: form-data; name="a"',
      '',
      'x',
      '--b--  ',
      'good bye',
      '--b',
    ];
    assert.deepEqual(parse(lines), [['a', 'x']]);
  });

  it('accepts an empty part, and a part that is only a line break', () => {
    const head = 'content-disposition: form-data; name="a"';
    assert.deepEqual(parse(['--b', head, '', '', '--b--']), [['a', '']]);
    assert.deepEqual(parse(['--b', head, '', '\r\n', '--b--']), [['a', '\r\n']]);
    assert.deepEqual(parse(['--b--']), []);
  });

  it('accepts content that resembles a delimiter', () => {
    const content = 'x--b\r\n-b--\r\n --b';
    assert.deepEqual(parse(['--b', 'content-disposition: form-data; name="a"', '', content, '--b--']), [
      ['a', content],
    ]);
  });

  it('decodes names with escapes, in UTF-8', () => {
    const disposition = Buffer.from('content-disposition: form-data; filename="x;y"; name="a\\"é"').toString('latin1');
    assert.deepEqual(parse(['--b', disposition, '', 'x', '--b--']), [['a"é', 'x']]);
  });

  it('rejects a body that is truncated at any byte', () => {
    const whole = text(['--b', 'content-disposition: form-data; name="a"', '', 'x', '--b--']);
    for (let length = 0; length < whole.length; length++) {
      const cut = () => parseMultipart(whole.subarray(0, length), 'b', 8);
      assert.throws(cut, { code: 'malformed_multipart' }, `cut at ${length}`);
    }
  });

  it('rejects parts without a name, with folded or endless header fields, or in another encoding', () => {
    const refused = (header: string[]) =>
      assert.throws(() => parse(['--b', ...header, '', 'x', '--b--']), { code: 'malformed_multipart' });
    refused([]);
    refused(['content-type: text/plain']);
    refused(['content-disposition: attachment; name="a"']);
    refused(['content-disposition: form-data']);
    refused(['content-disposition: form-data; name="a']);
    refused(['content-disposition: form-data; name="a"', 'content-transfer-encoding: base64']);
    refused([`x: ${'y'.repeat(9000)}`, 'content-disposition: form-data; name="a"']);
    assert.throws(() => parse(['--bc', 'content-disposition: form-data; name="a"', '', 'x', '--b--']), {
      code: 'malformed_multipart',
    });
  });

  it('limits the number of parts', () => {
    const part = ['--b', 'content-disposition: form-data; name="a"', '', 'x'];
    assert.equal(parse([...part, ...part, '--b--'], 2).length, 2);
    assert.throws(() => parse([...part, ...part, ...part, '--b--'], 2), {
      code: 'payload_too_large',
      message: /2 parts/,
    });
  });
});
