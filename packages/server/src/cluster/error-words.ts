/** An error as it goes from one process to another: what those who print it, or act by it, look at. */
export interface ErrorWords {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
  /** SQLite's result code. */
  readonly errcode?: number | undefined;
}

export function toWords(error: unknown): ErrorWords {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack, code, syscall, errcode } = error as NodeJS.ErrnoException & Pick<ErrorWords, 'errcode'>;
  // With a socket that the primary holds, what fails is told as `bind`.
  return { name, message, stack, code, syscall: syscall === 'bind' ? 'listen' : syscall, errcode };
}

export function fromWords({ name, message, stack, ...rest }: ErrorWords): Error {
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, { name }, rest);
}
