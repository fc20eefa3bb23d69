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
  ['TENON_TOKEN', 'the access token (tnn_…)'],
  ['TENON_APP_ID', 'the application that commands are about when --app is not given'],
  ['TENON_EXTENSION_POINT_ID', 'the extension point that commands are about when --extension-point is not given'],
  ['TENON_DATA_DIR', "the server's data folder, ./tenon-data by default"],
  ['NO_COLOR', 'set to anything: no colours (https://no-color.org)'],
];
