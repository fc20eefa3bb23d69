import './versions-model.test.ts';
