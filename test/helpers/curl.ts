import { execFile } from 'node:child_process';

export interface CurlResult {
  /** curl's own exit code: 22 for a status of 400 or more with `--fail`. */
  readonly exitCode: number;
  readonly status: number;
  /** By name in lower case; of several answers (after `100 Continue`) the last one's. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Runs the machine's curl in a folder, and takes its answer apart. */
export function curl(folder: string, ...args: string[]): Promise<CurlResult> {
  // The header fields come first on stdout; what `--output` names goes elsewhere.
  const all = ['--silent', '--show-error', '--dump-header', '-', ...args];
  return new Promise((resolve, reject) => {
    execFile('curl', all, { cwd: folder, encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      const exitCode = error === null ? 0 : error.code;
      if (typeof exitCode !== 'number') return reject(error);
      const { head, body } = splitAnswer(stdout);
      const [statusLine = '', ...fields] = head.split('\r\n');
      const headers = new Map(
        fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]),
      );
      resolve({ exitCode, status: Number(statusLine.split(' ')[1]), headers, body });
    });
  });
}

function splitAnswer(stdout: Buffer): { head: string; body: Buffer } {
  let rest = stdout;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, end).toString('latin1');
    rest = rest.subarray(end + 4);
    if (!/^HTTP\/\S+ 1\d\d /.test(head)) return { head, body: rest };
  }
}
