import { join } from 'node:path';
import {
  type Config,
  ConfigError,
  describeStore,
  type FirstStart,
  loadConfig,
  type RunningServer,
  serveUntilStopped,
  usesDataFolder,
  version,
} from '@tenon/server';
import { Option } from 'commander';
import { type Command, withJson } from '../command.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { createReporter } from '../output.ts';
import { printable, shellWord } from '../text.ts';
import { translateServerError } from './server-errors.ts';

type Options = {
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly publicUrl?: string;
  readonly only?: string;
  readonly workers?: string;
  readonly logLevel?: string;
  readonly demo?: boolean | undefined;
  readonly json?: boolean;
};

export function addServeCommand(program: Command, io: Io): void {
  program
    .command('serve')
    .description('run the server, until Ctrl-C or SIGTERM')
    .option('--host <address>', 'the address to listen on (default: TENON_HOST, else 127.0.0.1)')
    .option('--port <port>', 'the port; 0 picks a free one (default: TENON_PORT, else 8366)')
    .option('--data-dir <folder>', 'the folder for all data (default: TENON_DATA_DIR, else ./tenon-data)')
    .option('--public-url <url>', 'the URL that clients use (default: TENON_PUBLIC_URL, else http://localhost:PORT)')
    .addOption(new Option('--only <area>', 'serve only the instrumentation endpoint').choices(['instrument']))
    .option('--workers <count>', 'number of processes; auto is one per core (default: TENON_WORKERS, else 1)')
    .option(
      '--demo',
      'create demo data in an empty data folder (default: only if the server is not reachable from other machines)',
    )
    .option('--no-demo', 'create no demo data')
    .option(
      '--log-level <level>',
      'fatal, error, warn, info, debug, trace or silent (default: info; warn on a terminal)',
    )
    .use(withJson)
    .examples(
      'tenon serve',
      'tenon serve --port 8080 --data-dir /var/lib/tenon --no-demo',
      'tenon serve --only instrument',
    )
    .addHelpText('after', `Every other setting is an environment variable: see docs/reference/configuration.md.`)
    .action((_: unknown, command: Command) => serve(io, command));
}

async function serve(io: Io, command: Command): Promise<void> {
  const options = command.opts<Options>();
  const config = readConfig(io, {
    ...options,
    // Commander takes the mere existence of --no-demo for a default of true.
    demo: command.getOptionValueSource('demo') === 'cli' ? options.demo : undefined,
  });
  const out = createReporter(io, options.json === true);
  const onListening = ({ url, port }: RunningServer, start: FirstStart) => {
    const isMirror = config.mirror !== undefined;
    const quickstartFile = usesDataFolder({ ...config, isMirror }) ? join(config.dataDir, 'quickstart.env') : null;
    out.result({ url, port, version, store: describeStore(config), quickstartFile, ...start }, () =>
      out.write(welcome(io, config, url, start)),
    );
  };
  try {
    await serveUntilStopped(config, onListening);
  } catch (error) {
    throw translateServerError(error, config, '--data-dir');
  }
}

function readConfig(io: Io, options: Options): Config {
  const { host, port, dataDir, publicUrl, only, workers, demo } = options;
  // People at a terminal get the words below; the log is for machines, so there it tells of trouble alone.
  const isLevelSet = options.logLevel !== undefined || Boolean(io.environment.TENON_LOG_LEVEL);
  const logLevel = isLevelSet || !io.stderr.isTTY ? options.logLevel : 'warn';
  try {
    return loadConfig({ host, port, dataDir, publicUrl, only, workers, demo, logLevel }, io.environment);
  } catch (error) {
    if (error instanceof ConfigError) throw usageError(error.message, 'See: tenon serve --help');
    throw error;
  }
}

function welcome(io: Io, config: Config, url: string, start: FirstStart): string {
  const what = config.mirror
    ? `a mirror of ${printable(config.mirror.source)} at `
    : config.only === 'instrument'
      ? 'instrumentation at '
      : '';
  const lines = [`Tenon ${version} serves ${what}${url}`, `store  ${printable(describeStore(config))}`, ''];
  if (start.state === 'demo_made') {
    lines.push('The demo data is an application, an extension point, a guest, and a plugin that greets.');
  }
  if (start.hasSecrets) lines.push(...howToGoOn(config, start.hasSignIn));
  else if (start.state === 'empty') lines.push(...howToBegin(io, config, start));
  lines.push('Ctrl-C stops it.', '');
  return lines.map((line) => `${line}\n`).join('');
}

function howToGoOn({ dataDir, only }: Config, hasSignIn: boolean): string[] {
  const file = shellWord(fileInFolder(dataDir, 'quickstart.env'));
  const bindings = '$TENON_URL/api/v1/extension-points/$TENON_EXTENSION_POINT_ID/bindings/$TENON_GUEST_KEY';
  return [
    only !== 'instrument' && hasSignIn
      ? `Open it in a browser. The e-mail address, the password, a token and an API key are in ${file}.`
      : `A token and an API key are in ${file}.`,
    'Next, in another shell:',
    '',
    `  . ${file}`,
    only === 'instrument'
      ? '  curl --fail -H "authorization: Bearer $TENON_API_KEY" -F wasm=@app.wasm -o traced.wasm "$TENON_URL/instrument"'
      : `  curl -H "authorization: Bearer $TENON_TOKEN" "${bindings}"`,
    '',
  ];
}

function howToBegin(io: Io, { dataDir }: Config, { reason, setUpLink }: FirstStart & { state: 'empty' }): string[] {
  const tenon = io.environment.npm_execpath ? 'npx --no-install tenon' : 'tenon';
  const folder = shellWord(dataDir);
  if (reason === 'instrument_only') {
    return [
      'There are no API keys yet. To create one:',
      '',
      `  ${tenon} admin api-key create "build machine" --store ${folder}`,
      '',
    ];
  }
  if (reason === 'mirror') {
    return ['To create a token for hosts:', '', `  ${tenon} admin host-token create --store ${folder}`, ''];
  }
  const why =
    reason === 'public_host'
      ? ['Other machines can reach this address, so there is no demo data; --demo creates it anyway.']
      : [];
  return [
    ...why,
    'There are no accounts yet. To create the first one, open this link in a browser. Anyone with the link can use it:',
    '',
    `  ${setUpLink}`,
    '',
  ];
}

/** With a slash in it: a shell looks for a file without one along its PATH. */
function fileInFolder(folder: string, name: string): string {
  const path = join(folder, name);
  return /^[./]|^[A-Za-z]:/.test(path) && path.includes('/') ? path : `./${path}`;
}
