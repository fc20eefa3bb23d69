/** An error as it goes from one process to another: what those who print it, or act by it, look at. */
export interface ErrorWords {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
}

export function toWords(error: unknown): ErrorWords {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack, code, syscall } = error as NodeJS.ErrnoException;
  // With a socket that the primary holds, what fails is told as `bind`.
  return { name, message, stack, code, syscall: syscall === 'bind' ? 'listen' : syscall };
}

export function fromWords({ name, message, stack, ...rest }: ErrorWords): Error {
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, { name }, rest);
}
