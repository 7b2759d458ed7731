// SPDX-License-Identifier: BSD-3-Clause
// One script and one style sheet, which the program embeds and writes into each report.
import { defineConfig } from "vite";

export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    outDir: process.env.OUT_DIR ?? "../../build/viewer",
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    lib: { entry: "src/main.tsx", name: "ucxbpf", formats: ["iife"], fileName: () => "index.js" },
    rollupOptions: { output: { assetFileNames: "index.[ext]" } },
  },
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warn",
});
