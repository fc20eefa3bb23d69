/**
 * Whether this server is about to stop. It serves as ever while it drains, but says to those who ask whether it is ready that they
 * should send to others: what is sent to a server that no longer listens is lost.
 */
export interface Draining {
  begin(): void;
  readonly isOn: () => boolean;
}

export function createDraining(): Draining {
  let isDraining = false;
  return {
    begin() {
      isDraining = true;
    },
    isOn: () => isDraining,
  };
}
