import { createProgram } from '../../src/program.ts';
import { renderReference } from '../../src/reference.ts';
import { Capture, createIo } from './streams.ts';

/** Where the reference is. */
export const referenceFile = new URL('../../../../docs/reference/cli.md', import.meta.url);

/** The reference as the program's present help makes it, in lines of at most 100 columns. */
export async function presentReference(): Promise<string> {
  const { io } = createIo();
  let captured = new Capture();
  const stdout = new Proxy(io.stdout, {
    get: (_, name) =>
      name === 'columns' ? 100 : name === 'isTTY' ? false : Reflect.get(captured, name).bind(captured),
  });
  const program = await createProgram({ ...io, stdout });
  return renderReference(program, (command) => {
    captured = new Capture();
    command.outputHelp();
    return captured.text;
  });
}
