/** A program has ended itself (`proc_exit`), which it can't do but by throwing; 0 is no failure. */
export class ProgramExit extends Error {
  override readonly name = 'ProgramExit';
  readonly code: number;

  constructor(code: number) {
    super(`The program ended with ${code}`);
    this.code = code;
  }
}

/** Somebody has pressed the button, or a limit was passed. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/** Something was called that this page has nothing for. */
export class MissingImport extends Error {
  override readonly name = 'MissingImport';
}
