import { checkModule, type ModuleCheck, preambleFault } from './check-module.ts';

/** A file that may be a module, with the bytes that it had when it was read. */
export interface CheckedFile {
  readonly fileName: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly check: Extract<ModuleCheck, { kind: 'module' }>;
}

/** Reads and checks a file. Returns the result, or why it can't be published. */
export async function checkFile(file: File): Promise<CheckedFile | string> {
  try {
    // The beginning first, so that a large file of another kind, such as a video, is refused without reading it all.
    const fault = preambleFault(new Uint8Array(await file.slice(0, 8).arrayBuffer()));
    if (fault !== undefined) return fault;
    const bytes = new Uint8Array(await file.arrayBuffer());
    const { describeModule, listProposals } = await import('@tenon/instrument');
    const check: ModuleCheck = checkModule(bytes, {
      describeModule,
      listProposals,
      validate: (all) => WebAssembly.validate(all),
    });
    return check.kind === 'refused' ? check.reason : { fileName: file.name, bytes, check };
  } catch (error) {
    return error instanceof DOMException
      ? 'Couldn’t read the file. It may be a folder, or may have been moved.'
      : 'Couldn’t check the file. Reload the page and try again.';
  }
}
