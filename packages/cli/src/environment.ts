import process from 'node:process';

/** Environment variables by name. One that is empty counts as unset everywhere. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment: the one place of the command line that reads it. */
export function readEnvironment(): Environment {
  return { ...process.env };
}

/** The variables that the command line reads, as `tenon help environment` and the reference show them. */
export const environmentVariables: readonly (readonly [string, string])[] = [
  ['TENON_URL', 'the server, such as https://plugins.example.org'],
  ['TENON_TOKEN', 'the access token (tnn_…); beside TENON_URL it is sent to that server alone'],
  ['TENON_PROFILE', 'the login to use when neither --profile nor TENON_URL names a server'],
  ['TENON_APP_ID', 'the application that commands are about when --app is not given'],
  ['TENON_EXTENSION_POINT_ID', 'the extension point that commands are about when --extension-point is not given'],
  ['TENON_DATA_DIR', "the server's data folder, ./tenon-data by default"],
  [
    'TENON_CONFIG_DIR',
    'where logins are kept: $XDG_CONFIG_HOME/tenon or ~/.config/tenon by default, ~/Library/Application Support/tenon on macOS, %APPDATA%\\tenon on Windows',
  ],
  ['BROWSER', 'the program that opens web pages (a name or a path)'],
  ['NO_COLOR', 'set to anything: no colours (https://no-color.org)'],
];

/** How a command finds its server and a token for it, as `tenon help environment` and the reference tell it. */
export const connectionRules = `The server is the first of these that is there:

1. what options name: --server, --profile, or --data-dir with a quickstart.env in that folder;
2. for commands about a plugin: the "server" of the tenon.toml here or in a folder above;
3. TENON_URL, TENON_PROFILE, or TENON_DATA_DIR with a quickstart.env in that folder;
4. the current login: the last one that was made, or the one of "tenon profile use";
5. tenon-data/quickstart.env here or in a folder above, which a demo server has written; above, one of another user is ignored.

The token is the first of these that is for that server: --token, TENON_TOKEN, a login there, its quickstart.env. Nothing that
belongs to one server is sent to another. TENON_TOKEN without TENON_URL goes to whichever server is chosen, unless a login was
named with --profile, or only a file that was found (tenon.toml, or a quickstart.env that no option or variable names) names the
server: such files come with sources. If you are logged in to another server, commands in a demo's folder say which of the two they use.
`;
