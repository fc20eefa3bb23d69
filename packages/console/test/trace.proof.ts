import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import type { Request } from 'playwright-core';
import { wat } from '../../../test/helpers/wat.ts';
import { chooseFile } from './helpers/modules.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours } from './helpers/workshop.ts';

const greet = readFileSync(new URL('../../server/sample/greet.wasm', import.meta.url));

const numbers = wat(`(module
  (func $fib (export "fib") (param i32) (result i32)
    (if (result i32) (i32.lt_s (local.get 0) (i32.const 2))
      (then (local.get 0))
      (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
  (func $shift (export "shift") (param i64 f64) (result i64 f64) (i64.shl (local.get 0) (i64.const 1)) (local.get 1))
  (func $fail (export "fail") unreachable)
  (func (export "vector") (param v128)))`);

describe('the page that traces modules', { skip: noBrowser }, () => {
  let stage: Stage;
  let visitor: Visitor;
  before(async () => {
    stage = await openStage();
    visitor = await signedIn();
  });
  after(() => stage.close());

  async function signedIn(): Promise<Visitor> {
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    const newcomer = await stage.visitor({ acceptDownloads: true });
    await newcomer.open('/');
    await newcomer.signIn(email, password);
    return newcomer;
  }

  /** Opens the page and hands it a module. */
  async function openModule(name: string, bytes: Uint8Array): Promise<void> {
    await visitor.open('/trace');
    await chooseFile(visitor, name, bytes);
    await visitor.page.getByText(name, { exact: true }).waitFor();
    await visitor.page.getByRole('button', { name: 'Another module' }).waitFor();
  }

  /** Presses the key, since a click misses when the list of functions comes above the button at that moment. */
  async function run(): Promise<void> {
    await visitor.page.getByRole('button', { name: 'Run', exact: true }).press('Enter');
  }

  it('is a document of its own, isolated from others, which one comes to and leaves by links', async () => {
    const { page } = visitor;
    const isIsolated = () => page.evaluate(() => crossOriginIsolated);
    await visitor.open('/');
    assert.equal(await isIsolated(), false);
    await page.getByRole('link', { name: 'Trace' }).click();
    await page.getByRole('heading', { name: 'Trace a module' }).waitFor();
    await page.getByText('Drop a .wasm file here').waitFor();
    assert.equal(await isIsolated(), true);
    assert.equal(await page.getByRole('link', { name: 'Trace' }).getAttribute('aria-current'), 'page');
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('link', { name: 'Applications' }).click();
    await page.getByRole('heading', { name: 'Applications', exact: true }).waitFor();
    assert.equal(await isIsolated(), false);
    await page.goBack();
    await page.getByText('Drop a .wasm file here').waitFor();
    assert.equal(await isIsolated(), true);
    await page.goForward();
    await page.getByRole('heading', { name: 'Applications', exact: true }).waitFor();
    assert.equal(await isIsolated(), false);
  });

  it('shows what a plugin is made of, runs it, and where its time went, and sends nothing anywhere', async () => {
    const { page } = visitor;
    await visitor.open('/trace');
    await page.waitForLoadState('networkidle');
    const requests: Request[] = [];
    const listen = (request: Request): void => void requests.push(request);
    page.context().on('request', listen);
    await chooseFile(visitor, 'greet.wasm', greet);
    await page.getByText('14, of which 7 imported').waitFor();
    await page.getByText('extism:host/env (7)').waitFor();
    await page.getByText('14 of 14 functions traced.').waitFor();
    assert.equal((await page.locator('.size-map rect.tile-0').count()) > 0, true);
    assert.deepEqual(await faultsInBothColours(page), []);

    await page.getByLabel('Input').fill('Ada Løvelace');
    await page.getByLabel('Hide calls shorter than').fill('0');
    await run();
    await page.getByText('Completed').waitFor();
    await page.getByText('Hello, Ada Løvelace!').waitFor();
    await page.getByRole('group', { name: 'Flame graph: greet' }).waitFor();
    const row = page.getByRole('row', { name: /write_input/ });
    assert.equal(await row.locator('td').nth(2).innerText(), '1');
    assert.deepEqual(await faultsInBothColours(page), []);

    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save flame graph' }).click(),
    ]);
    assert.equal(saved.suggestedFilename(), 'greet.flame-graph.html');
    assert.match(await readFile(await saved.path(), 'utf8'), /^<!doctype html>.*write_input/s);

    page.context().off('request', listen);
    const isOfPage = (request: Request) =>
      request.method() === 'GET' &&
      /\/assets\/(?:[^/]*\.worker|flame-graph-viewer)-[^/]*\.js$|^blob:/.test(request.url());
    assert.ok(requests.length > 0, 'the workers are fetched');
    assert.deepEqual(
      requests.filter((request) => !isOfPage(request)).map((request) => request.url()),
      [],
    );
  });

  it('keeps its workers from the network, from further scripts and from code in texts', async () => {
    const other = await signedIn();
    const { page } = other;
    await other.open('/trace');
    await chooseFile(other, 'numbers.wasm', numbers);
    await page.getByRole('button', { name: 'Another module' }).waitFor();
    const [worker] = page.workers();
    assert.ok(worker);
    const { url } = stage;
    const outcomes = await worker.evaluate(async (base) => {
      const tries: Record<string, () => unknown> = {
        fetch: () => fetch(`${base}/session`),
        xhr: () =>
          new Promise((resolve, reject) => {
            const request = new XMLHttpRequest();
            request.open('GET', `${base}/session`);
            request.onload = resolve;
            request.onerror = () => reject(new Error('refused'));
            request.send();
          }),
        socket: () =>
          new Promise((resolve, reject) => {
            const socket = new WebSocket(base.replace('http', 'ws'));
            socket.onopen = resolve;
            socket.onerror = () => reject(new Error('refused'));
          }),
        script: () => import(`${base}/assets/none.js`),
        eval: () => new Function('return 1')(),
        wasm: () => new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)),
      };
      const names: string[] = [];
      for (const [name, attempt] of Object.entries(tries)) {
        try {
          await attempt();
          names.push(name);
        } catch {
          // refused
        }
      }
      return names;
    }, url);
    assert.deepEqual(outcomes, ['wasm']);
    // The page itself compiles nothing.
    const compiled = await page.evaluate(() => {
      try {
        return String(new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)));
      } catch (error) {
        return error instanceof WebAssembly.CompileError ? 'refused' : String(error);
      }
    });
    assert.equal(compiled, 'refused');
    // The browser tells of each breach, and may do so late.
    await other.close();
    other.faults.length = 0;
  });

  it('takes numbers of every kind for arguments, says what is wrong with others, and tells traps', async () => {
    const { page } = visitor;
    await openModule('numbers.wasm', numbers);
    await run();
    await page.getByText('Enter an integer, such as 42, -1 or 0xff.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('Argument 1: i32').fill('0x10');
    await page.getByLabel('Argument 1: i32').press('Enter');
    await page.getByText('Returned 987 (i32)').waitFor();
    await page.getByRole('row', { name: /fib/ }).getByText('3,193').waitFor();

    const selection = page.getByLabel('Export to call');
    await selection.selectOption({ label: 'shift(i64, f64) → i64, f64' });
    await page.getByLabel('Argument 1: i64').fill('-4611686018427387904');
    await page.getByLabel('Argument 2: f64').fill('1e-3');
    await run();
    await page.getByText('Returned -9223372036854775808 (i64), 0.001 (f64)').waitFor();

    await selection.selectOption({ label: 'fail()' });
    await run();
    await page.getByText('unreachable, after').first().waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await selection.selectOption({ label: 'vector(v128)' });
    await run();
    await page.getByText('JavaScript can’t pass values of type v128').waitFor();
  });

  it('finds functions and ticks them by keyboard, and saves the module that the selection makes', async () => {
    const { page } = visitor;
    await openModule('greet.wasm', greet);
    await page.getByLabel('All but ticked functions').check();
    await page.getByLabel('Search').fill('WRITE');
    await page.getByText('3 of 14, 0 names ticked').waitFor();
    const list = page.getByRole('listbox', { name: 'Functions' });
    await list.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.keyboard.press('End');
    await page.keyboard.press('Space');
    await page.getByText('3 of 14, 2 names ticked').waitFor();
    await page.getByText('12 of 14 functions traced.').waitFor();
    const ticked = await list.getByRole('option', { selected: true }).locator('.function-name').allInnerTexts();
    assert.deepEqual(ticked, ['write_words', 'write_decimal']);
    assert.deepEqual(await faultsInBothColours(page), []);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download instrumented' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'greet.instrumented.wasm');
    const expected = instrument(new Uint8Array(greet), { banned: ticked }).bytes;
    assert.deepEqual(new Uint8Array(await readFile(await download.path())), expected);

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the configuration' }).click();
    await page.getByRole('button', { name: 'Copied the configuration' }).waitFor();
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.deepEqual(copied, { banned: ticked });

    await page.getByLabel('Only ticked functions').check();
    await page.getByText('2 of 14 functions traced.').waitFor();
    await page.getByRole('button', { name: 'Untick all found' }).click();
    await page.getByText('0 of 14 functions traced.').waitFor();
    await page.getByRole('button', { name: 'Tick all found', exact: true }).click();
    await page.getByText('3 of 14 functions traced.').waitFor();
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Order', { exact: true }).selectOption({ label: 'by name' });
    const options = list.getByRole('option');
    await options.first().getByText('alloc').waitFor();
    await page.getByLabel('Search').fill('no such function');
    await page.getByText('No function matches “no such function”.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('leaves out what was called most, at a press, when it runs again', async () => {
    const { page } = visitor;
    await openModule('greet.wasm', greet);
    await page.getByLabel('Input').fill('Ada');
    await run();
    await page.getByRole('row', { name: /store_u8/ }).waitFor();
    await page.getByRole('button', { name: 'Exclude the ten most-called' }).click();
    await page.getByText('Excluded from the next run.').waitFor();
    assert.equal(await page.getByLabel('All but ticked functions').isChecked(), true);
    await run();
    await page.getByText('No traced function was called.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('runs programs of WASI with arguments, input and output', async () => {
    const program = wat(`(module
      (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
      (memory (export "memory") 1)
      (func $print (param $fd i32) (param $at i32) (param $length i32)
        (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $length))
        (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))))
      (func (export "_start")
        (drop (call $args_get (i32.const 100) (i32.const 200)))
        (call $print (i32.const 1) (i32.load (i32.const 104)) (i32.const 12))
        (i32.store (i32.const 16) (i32.const 400)) (i32.store (i32.const 20) (i32.const 50))
        (drop (call $fd_read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 32)))
        (call $print (i32.const 2) (i32.const 400) (i32.load (i32.const 32)))
        (call $proc_exit (i32.const 3))))`);
    const { page } = visitor;
    await openModule('program.wasm', program);
    await page.getByLabel('Program arguments').fill(`'Ada Lovelace' -v`);
    await page.getByLabel('Standard input').fill('\u001b[31mred\u001b[0m <b>words</b>');
    await run();
    await page.getByText('Exited with code 3').waitFor();
    const output = (title: string) => page.locator('.trace-output', { hasText: title }).locator('pre').innerText();
    assert.equal(await output('Standard output'), 'Ada Lovelace');
    assert.equal(await output('Standard error'), 'red <b>words</b>');
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('says so where the browser does not isolate it, and works all the same', async () => {
    const { page } = visitor;
    await page.route('**/trace', async (route) => {
      const response = await route.fetch();
      const { 'cross-origin-embedder-policy': _, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    try {
      await openModule('greet.wasm', greet);
      await page.getByText('Low timer resolution').waitFor();
      await page.getByText('cross-origin-embedder-policy').waitFor();
      await page.getByLabel('Input').fill('Ada');
      await run();
      await page.getByText('Hello, Ada!').waitFor();
      assert.deepEqual(await faultsInBothColours(page), []);
    } finally {
      await page.unroute('**/trace');
    }
  });
});
