import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customSection, leb } from '../../../test/helpers/module-bytes.ts';
import { sourceMapOf, sourceMapUrl } from '../../../test/helpers/source-map.ts';
import { wat } from '../../../test/helpers/wat.ts';
import { chooseFile } from './helpers/modules.ts';
import { noBrowser, openStage, type Stage } from './helpers/stage.ts';
import { faultsInBothColours } from './helpers/workshop.ts';

const plain = wat('(module (func $fail unreachable) (func $run (export "run") (call $fail)))');

/** The trap of `fail` and the call in `run`. */
const map = sourceMapOf(
  ['/home/me/app/src/fail.ts', '/home/me/app/src/run.ts'],
  [
    [find(0x00, 0x00, 0x0b) + 1, 0, 11, 4],
    [find(0x10, 0x00, 0x0b), 1, 2, 8],
  ],
);
const url = sourceMapUrl(map);
const mapped = Buffer.concat([
  plain,
  customSection('sourceMappingURL', Buffer.concat([Buffer.from(leb(url.length)), url])),
]);

function find(...bytes: number[]): number {
  const at = Buffer.from(plain).indexOf(Buffer.from(bytes));
  assert.notEqual(at, -1);
  return at;
}

describe('source files and lines in the page that traces modules', { skip: noBrowser }, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.close());

  it('are shown for a trap, for called functions, and in the flame graph', async () => {
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    await visitor.open('/trace');
    await chooseFile(visitor, 'mapped.wasm', mapped);
    await page.getByRole('button', { name: 'Another module' }).waitFor();
    await page.getByLabel('Hide calls shorter than').fill('0');
    // A click misses when the list of functions appears above the button at that moment.
    await page.getByRole('button', { name: 'Run', exact: true }).press('Enter');
    const stack = 'at fail (/home/me/app/src/fail.ts:12:5)\nat run (/home/me/app/src/run.ts:3:9)';
    assert.equal(await page.locator('pre', { hasText: 'at fail' }).innerText(), stack);
    const called = page.getByRole('table', { name: 'Called functions' });
    await called.getByRole('row', { name: /fail src\/fail\.ts:12/ }).waitFor();
    await called.getByRole('row', { name: /run src\/run\.ts:3/ }).waitFor();
    const graph = page.getByRole('group', { name: 'Flame graph: run' });
    await graph.getByLabel('Search functions').fill('fail.ts:12');
    await graph.getByText('1 span,').waitFor();
    await graph.getByLabel('Search functions').press('Enter');
    await graph.getByRole('status', { name: 'The chosen call' }).getByText('/home/me/app/src/fail.ts:12').waitFor();
    await graph.getByRole('button', { name: 'Functions' }).click();
    await graph.getByRole('region', { name: 'Functions' }).getByText('src/fail.ts:12').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });
});
