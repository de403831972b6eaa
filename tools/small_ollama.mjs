// Answers POST /api/chat as Ollama does, with a real small model run by node-llama-cpp: one end-to-end try where no Ollama can be had.
// npm install node-llama-cpp@3.21 --ignore-scripts; node small_ollama.mjs MODEL.gguf [PORT]
import { createServer } from "node:http";
import { getLlama, LlamaChatSession } from "node-llama-cpp";

const [modelPath, port = "11434"] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath });

/** One streamed answer, constrained to the schema in `format` where there is one. */
async function answer(asked, send) {
    const context = await model.createContext({ contextSize: Math.min(asked.options?.num_ctx ?? 4096, model.trainContextSize) });
    try {
        const system = asked.messages.filter((each) => each.role === "system").map((each) => each.content).join("\n");
        const session = new LlamaChatSession({ contextSequence: context.getSequence(), systemPrompt: system });
        const grammar = asked.format ? await llama.createGrammarForJsonSchema(asked.format) : undefined;
        const result = await session.promptWithMeta(asked.messages.at(-1).content, {
            grammar, temperature: asked.options?.temperature ?? 0, maxTokens: asked.options?.num_predict,
            onTextChunk: (text) => send({ message: { role: "assistant", content: text }, done: false }),
        });
        send({ message: { role: "assistant", content: "" }, done: true, done_reason: result.stopReason === "maxTokens" ? "length" : "stop" });
    } finally {
        await context.dispose();
    }
}

createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", async () => {
        const asked = JSON.parse(Buffer.concat(parts).toString());
        response.writeHead(200, { "Content-Type": "application/x-ndjson" });
        const send = (line) => response.write(JSON.stringify({ model: asked.model, created_at: new Date().toISOString(), ...line }) + "\n");
        try {
            await answer(asked, send);
        } catch (error) {
            send({ error: String(error) });
        }
        response.end();
    });
}).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
