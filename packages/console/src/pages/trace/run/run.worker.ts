postMessage('not yet');
