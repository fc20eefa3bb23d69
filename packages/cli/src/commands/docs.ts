import { type Command, withJson, withServerChoice } from '../command.ts';
import { findConnection } from '../connection.ts';
import { pathOfTopic, readDocsPages } from '../docs-pages.ts';
import { parseTimeout } from '../duration.ts';
import type { Io } from '../io.ts';
import { createReporter } from '../output.ts';
import { openProject } from '../project/plugin-session.ts';
import { type CommonOptions, timeoutMs } from '../session.ts';
import { type ShowPageOptions, showPage, withPrint } from '../show-page.ts';

export function addDocsCommand(program: Command, io: Io): void {
  program
    .command('docs')
    .argument('[topic...]', 'a page, by its name or words of its title; an error code; or openapi (default: the index)')
    .description("open the server's documentation in a browser")
    .use(withPrint, withJson, withServerChoice)
    .option('--profile <profile>', 'the login whose server to use (default: TENON_PROFILE, else the current one)')
    .option('--timeout <duration>', 'fail after this long without network activity (default: 60s)', parseTimeout)
    .examples('tenon docs', 'tenon docs tenon-toml', 'tenon docs reverse proxy', 'tenon docs --print quota_exceeded')
    .action((topic: readonly string[], options: CommonOptions & ShowPageOptions) =>
      openDocs(io, topic.join(' '), options),
    );
}

async function openDocs(io: Io, topic: string, options: CommonOptions & ShowPageOptions): Promise<void> {
  const out = createReporter(io, options.json === true);
  const project = await openProject(io, {});
  const { url, foundIn } = findConnection(options, { ...io, warn: out.warn, projectServer: project?.settings.server });
  await io.interruptible(async (signal) => {
    const target = { url, foundIn, fetch: io.fetch, timeoutMs: timeoutMs(options), signal };
    const path = topic === '' ? '/docs' : pathOfTopic(await readDocsPages(target), topic);
    await showPage(io, out, url + path, options, signal);
  });
}
