import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameGroup } from './name-group.ts';

describe('nameGroup()', () => {
  const expected: Readonly<Record<string, string>> = {
    'core::fmt::write': 'core',
    '<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop': 'alloc',
    '<&mut serde_json::ser::Serializer as X>::f': 'serde_json',
    'void std::sort<int*>(int*, int*)': 'std',
    'runtime.mallocgc': 'runtime',
    'github.com/evanw/esbuild/internal/js_parser.(*parser).visit': 'js_parser',
    'encoding/json.Marshal': 'json',
    'env.abort': 'env',
    'wasi_snapshot_preview1.fd_write': 'wasi_snapshot_preview1',
    sqlite3VdbeExec: 'sqlite3',
    png_read_row: 'png',
    __wasi_fd_write: 'wasi',
    main: 'other',
    'func[12]': 'other',
    '': 'other',
    '\u0000\u202e<script>': 'other',
  };
  for (const [name, group] of Object.entries(expected)) {
    it(`puts ${JSON.stringify(name)} to ${group}`, () => assert.equal(nameGroup(name), group));
  }

  it('takes no longer for names that are made to take long', () => {
    for (const part of ['a', 'a.', '_', '<', 'a-', '::', 'a/']) nameGroup(part.repeat(50_000));
  });
});
