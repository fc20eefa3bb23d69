import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { borrowChromium, whyNoChromium } from '../../../../test/helpers/chromium.ts';
import { startInProcessServer } from '../../../../test/helpers/in-process-server.ts';
import { type RunningServer, type StartOptions, startServer } from '../../../../test/helpers/server.ts';
import { noteRequests } from './quiet.ts';

type AnyServer = Pick<RunningServer, 'folder' | 'quickstart' | 'stop'>;

/** A real server and a real browser. */
export interface Stage<Server extends AnyServer = AnyServer> {
  /** Where the server is, without a slash at its end. */
  readonly url: string;
  readonly server: Server;
  /** Opens a browser in which nothing is stored: another user each time. */
  visitor(options?: BrowserContextOptions): Promise<Visitor>;
  /** Closes everything; fails if a page of any visitor reported a fault that nobody expected. */
  close(): Promise<void>;
}

/** A stage whose server is a process: it can be killed, and has output. */
export type StageApart = Stage<RunningServer>;

export interface Visitor {
  readonly page: Page;
  /**
   * What pages reported: errors in scripts, breaches of the policy, requests to other hosts. Take out what a test provokes on
   * purpose.
   */
  readonly faults: string[];
  /** Opens a path of the console and waits until its heading is there. */
  open(path: string): Promise<void>;
  /** Signs in on whatever page asks for it. */
  signIn(email: string, password: string): Promise<void>;
  close(): Promise<void>;
}

/** For a test's `skip`: `false` when there is a browser for this machine, else why not. */
export const noBrowser: string | false = whyNoChromium() ?? false;

/**
 * Opens a stage whose server runs in the test's own process.
 *
 * @throws Error where there is no browser for this machine
 */
export function openStage(options: Pick<StartOptions, 'settings'> = {}): Promise<Stage> {
  return setUp(() => startInProcessServer(options));
}

/** Opens a stage whose server is a process that a person started: it has output, and takes arguments. */
export function openStageApart(options: StartOptions = {}): Promise<StageApart> {
  return setUp(() => startServer(options));
}

async function setUp<Server extends AnyServer>(start: () => Promise<Server>): Promise<Stage<Server>> {
  const { browser, release } = await borrowChromium();
  const server = await start().catch((error: unknown) => {
    release();
    throw error;
  });
  const url = server.quickstart.TENON_URL ?? '';
  const visitors: Visitor[] = [];
  return {
    url,
    server,
    async visitor(contextOptions = {}) {
      const visitor = await openVisitor(browser, url, contextOptions);
      visitors.push(visitor);
      return visitor;
    },
    async close() {
      for (const visitor of visitors) await visitor.close();
      release();
      await server.stop();
      assert.deepEqual(
        visitors.flatMap(({ faults }) => faults),
        [],
        'pages reported faults',
      );
    },
  };
}

async function openVisitor(browser: Browser, url: string, options: BrowserContextOptions): Promise<Visitor> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000); // far longer than anything takes; two cores may be busy with other tests
  noteRequests(page);
  const faults: string[] = [];
  watch(page, new URL(url).origin, faults);
  context.on('page', (other) => watch(other, new URL(url).origin, faults));
  return {
    page,
    faults,
    async open(path) {
      await page.goto(url + path);
      await page.locator('h1').first().waitFor();
    },
    async signIn(email, password) {
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).first().waitFor();
    },
    close: () => context.close(),
  };
}

function watch(page: Page, origin: string, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(`a script failed: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // The browser tells every answer of 400 and more there; those are the tests' own business.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) faults.push(`in the browser's console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(`${origin}/`) || /^(?:data|blob):/.test(request.url());
    if (!isOurs) faults.push(`a request to another host: ${request.url()}`);
  });
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * What axe-core finds wrong with a page as it stands, a line each.
 *
 * @param rules their ids; by default all that axe-core has on
 */
export async function axeFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await readFile(axe, 'utf8'));
  const { violations } = await page.evaluate(
    async (options) => {
      // Behind what a pseudo-element draws, axe-core judges no contrast.
      const plain = new CSSStyleSheet();
      plain.replaceSync('::before, ::after { display: none !important }');
      document.adoptedStyleSheets.push(plain);
      const { axe } = globalThis as unknown as { axe: { run(options: unknown): Promise<AxeResults> } };
      const { violations } = await axe.run(options);
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== plain);
      return { violations };
    },
    { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) },
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} (${target.join(' ')}) ${failureSummary ?? ''}`),
  );
}
