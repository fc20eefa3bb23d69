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
  ['TENON_TOKEN', 'the access token (tnn_…); with TENON_URL it is sent only to that server'],
  [
    'TENON_ID_TOKEN',
    'the identity token of a CI job, for trusted publishing; sent only to the server that is its audience',
  ],
  ['TENON_USER_ID', 'in trusted publishing, the account (usr_…) to publish with, if rules of several match'],
  [
    'TENON_PROFILE',
    'the login to use when no option, TENON_URL or tenon.toml names a server, or when several logins are for it',
  ],
  ['TENON_APP_ID', 'the application, without --app'],
  ['TENON_EXTENSION_POINT_ID', 'the extension point, without --extension-point'],
  ['TENON_DATA_DIR', "the server's data folder, ./tenon-data by default"],
  [
    'TENON_CONFIG_DIR',
    'the folder of logins: $XDG_CONFIG_HOME/tenon or ~/.config/tenon by default, ~/Library/Application Support/tenon on macOS, %APPDATA%\\tenon on Windows',
  ],
  ['BROWSER', 'the program that opens web pages (a name or a path)'],
  ['NO_COLOR', 'any value disables colours (https://no-color.org)'],
];

/** How a command finds its server and token, for `tenon help environment` and the reference. */
export const connectionRules = `Commands use the first of these that is set as the server:

1. the options: --server, --profile, or --data-dir with a quickstart.env in that folder;
2. for commands about a plugin: the "server" of the tenon.toml here or in a folder above;
3. TENON_URL, TENON_PROFILE, or TENON_DATA_DIR with a quickstart.env in that folder;
4. the current login: the latest one, or the one chosen with "tenon profile use";
5. tenon-data/quickstart.env of a demo server, here or in a folder above that belongs to you.

The token is the first of these for that server: --token, TENON_TOKEN, a login, quickstart.env. A token is never sent to another
server. TENON_TOKEN without TENON_URL goes to whichever server is chosen, except in two cases: if you chose a login by name, with
--profile or --server; or if the server comes only from a file that was found (tenon.toml, or a quickstart.env that no option or
variable names), because such a file may be part of another's source code. If you are logged in to another server, commands in a
demo's folder say which of the two they use.
`;
