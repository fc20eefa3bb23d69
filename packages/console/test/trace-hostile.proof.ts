import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { wat } from '../../../test/helpers/wat.ts';
import { chooseFile, moduleOfNames } from './helpers/modules.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours } from './helpers/workshop.ts';

describe('the page that traces modules, with modules of strangers', { skip: noBrowser }, () => {
  let stage: Stage;
  let visitor: Visitor;
  before(async () => {
    stage = await openStage();
    visitor = await stage.visitor({ viewport: { width: 360, height: 740 } }); // names have to fit a phone, too
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await visitor.open('/');
    await visitor.signIn(email, password);
    await visitor.open('/trace');
  });
  after(() => stage.close());

  async function openModule(name: string, bytes: Uint8Array): Promise<void> {
    const { page } = visitor;
    const other = page.getByRole('button', { name: 'Another module' });
    if (await other.isVisible()) await other.click();
    await chooseFile(visitor, name, bytes);
    await page.getByText(name, { exact: true }).waitFor();
    await other.waitFor({ timeout: 60_000 });
  }

  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });
  const isNarrow = async (): Promise<void> => {
    const width = await visitor.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${width} wide`);
  };

  /** The browser takes its time to say that a worker is gone. */
  async function untilNoneRuns(): Promise<void> {
    const { page } = visitor;
    const isRunning = () => page.workers().some((worker) => worker.url().includes('/run.worker-'));
    for (let looks = 0; isRunning(); looks++) {
      assert.ok(looks < 150, 'the worker goes on');
      await page.waitForTimeout(100);
    }
  }

  it('refuses what is no module, and looks at the next one', async () => {
    const { page } = visitor;
    const greet = wat('(module (func (export "greet")))');
    for (const [name, bytes, words] of [
      ['text.wasm', Buffer.from('<!doctype html>'), /This is not a WebAssembly module/],
      ['component.wasm', Uint8Array.of(0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0), /This is a component/],
      ['cut.wasm', greet.subarray(0, 20), /at offset 0x/],
      ['empty.wasm', Buffer.alloc(0), /The file is empty/],
    ] as const) {
      await chooseFile(visitor, name, bytes);
      await page.getByRole('alert').getByText(words).waitFor();
    }
    assert.deepEqual(await faultsInBothColours(page), []);
    await openModule('empty-module.wasm', wat('(module)'));
    await page.getByText('The module exports no function').waitFor();
    await openModule(
      'invalid.wasm',
      wat('(module (func (export "f")))').map((byte, at, all) => (at === all.indexOf(0x0b) ? 0x1a : byte)),
    );
    await page
      .getByText('This browser can’t run the module')
      .or(page.getByText('Can’t instrument the module'))
      .first()
      .waitFor();
    assert.equal(await button('Run').count(), 0);
  });

  it('runs a module that is instrumented already, as it is', async () => {
    const { page } = visitor;
    const traced = instrument(wat('(module (func $inner) (func (export "f") (call $inner)))')).bytes;
    await openModule('traced.wasm', traced);
    await page.getByText('Already instrumented').waitFor();
    assert.equal(await page.getByRole('listbox').count(), 0);
    await button('Run').click();
    await page.getByRole('row', { name: /inner/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('shows names as text, whatever they hold', async () => {
    const { page } = visitor;
    const names = [
      '<img src=x onerror="document.title=1">',
      '</script><script>document.title=1</script>',
      '\u202egnp.exe',
      '__proto__',
      'constructor',
      '\0\u001b[31m',
      '',
      'long '.repeat(20_000),
      '_ZN4core3fmt5write17h0123456789abcdefE',
    ];
    await openModule('names.wasm', moduleOfNames(names));
    await page.getByText('9 of 9 functions traced.').waitFor();
    await page.getByLabel('Order', { exact: true }).selectOption({ label: 'file order' });
    const list = page.getByRole('listbox', { name: 'Functions' });
    await list.getByText('core::fmt::write', { exact: true }).waitFor();
    await list.getByText('<img src=x onerror="document.title=1">', { exact: true }).waitFor();
    await page.getByLabel('Only ticked functions').check();
    await button('Tick all found').click();
    await page.getByText('9 of 9 functions traced.').waitFor();
    await button('Run').click();
    await page.getByText('Completed').waitFor();
    await page.getByRole('row', { name: /<img src=x/ }).waitFor();
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.title(), 'Trace a module · Tenon');
    assert.doesNotMatch(await page.locator('main').innerText(), /\u202e/);
    await isNarrow();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('ends a module that never ends, and stays as quick as before', async () => {
    const { page } = visitor;
    await openModule('endless.wasm', wat('(module (func (export "f") (loop $again (br $again))))'));
    await button('Run').click();
    await page.getByText('Running…').waitFor();
    await button('Stop').click();
    await page.getByText('so it was terminated without a trace').waitFor();
    await untilNoneRuns();
    assert.deepEqual(await faultsInBothColours(page), []);

    const calling = wat(`(module
      (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
      (memory (export "memory") 1)
      (func $work (drop (call $yield)))
      (func (export "f") (loop $again (call $work) (br $again))))`);
    await openModule('calling.wasm', calling);
    await button('Run').click();
    await page.getByText('Running…').waitFor();
    await button('Stop').click();
    await page.getByText('The trace ends at the stop').waitFor();
    await page.getByRole('row', { name: 'work' }).waitFor();

    // What it has done takes longer to collect than it took to stop.
    const busy = wat(`(module
      (func $deep (param i32) (if (local.get 0) (then (call $deep (i32.sub (local.get 0) (i32.const 1))))))
      (func (export "f") (loop $again (call $deep (i32.const 2000)) (br $again))))`);
    await openModule('busy.wasm', busy);
    await page.getByLabel('Hide calls shorter than').fill('0');
    await button('Run').click();
    await page.getByText('Running…').waitFor();
    await page.waitForTimeout(300);
    await button('Stop').click();
    await page.getByText('The trace ends at the stop').waitFor();
    await page.getByRole('group', { name: 'Flame graph: f' }).waitFor();

    const catching = wat(`(module (tag $t) (func $work) (func (export "f")
      (loop $again (try (do (call $work)) (catch_all)) (br $again))))`);
    await openModule('catching.wasm', catching);
    await button('Run').click();
    await page.getByText('Running…').waitFor();
    await button('Stop').click();
    await page.getByText('so it was terminated without a trace').waitFor();
  });

  it('ends one that waits, one that writes without end, and one that takes all memory', async () => {
    const { page } = visitor;
    const waiting = wat(`(module
      (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (func (export "f") (i64.store (i32.const 24) (i64.const 900000000000000))
        (drop (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))))`);
    await openModule('waiting.wasm', waiting);
    await button('Run').click();
    await page.getByText('Running…').waitFor();
    await button('Stop').click();
    await page.getByText('The trace ends at the stop').waitFor();

    const writing = wat(`(module
      (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (data (i32.const 0) "\\10\\00\\00\\00\\06\\00\\00\\00") (data (i32.const 16) "again\\n")
      (func (export "f") (loop $again (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br $again))))`);
    await openModule('writing.wasm', writing);
    await button('Run').click();
    await page.getByText('Further output is not shown.').waitFor();
    await button('Stop').click();
    await page.getByText('The trace ends at the stop').waitFor();
    assert.equal((await page.locator('.trace-output pre').innerText()).length, 256 * 1024);

    const growing = wat(`(module (memory (export "memory") 1)
      (func (export "f") (loop $again (drop (memory.grow (i32.const 1024))) (br $again))))`);
    await openModule('growing.wasm', growing);
    await button('Run').click();
    await page.getByText('its memory grew beyond the limit').waitFor();
    await openModule('large.wasm', wat('(module (memory 40000) (func (export "f")))'));
    await button('Run').click();
    await page.getByText('Can’t run the module').waitFor();
    await isNarrow();
  });

  it('lists 600,000 functions, and goes to any of them', async () => {
    const { page } = visitor;
    const names = Array.from({ length: 600_000 }, (_, index) => `crate${index % 9}::f${index}`);
    await openModule('many.wasm', moduleOfNames(names));
    await page.getByText('600,000 functions', { exact: true }).waitFor({ timeout: 60_000 });
    const list = page.getByRole('listbox', { name: 'Functions' });
    await page.getByLabel('Order', { exact: true }).selectOption({ label: 'file order' });
    await list.focus();
    await page.keyboard.press('End');
    await list.getByText('crate5::f599999', { exact: true }).waitFor();
    assert.ok((await list.getByRole('option').count()) < 60);
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Home');
    await list.getByText('crate0::f0', { exact: true }).waitFor();
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await list
      .getByText(/::f(?:299|300)\d{3}$/)
      .first()
      .waitFor();
    await page.getByLabel('Search').fill('f123456');
    await page.getByText('1 of 600,000').waitFor({ timeout: 60_000 });
    await list.getByText('crate3::f123456', { exact: true }).waitFor();
    await page.getByLabel('Only ticked functions').check();
    await list.focus();
    await page.keyboard.press('Space');
    await page.getByText('1 of 600,000 functions traced.').waitFor({ timeout: 60_000 });
    await isNarrow();
  });
});
