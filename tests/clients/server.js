// Starts the program for a test and waits until it is ready.
import { spawn } from "node:child_process";

export async function serve(program, ...flags) {
  const child = spawn(program, ["serve", "--port", "0", ...flags], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  const address = await new Promise((resolve, reject) => {
    child.stderr.on("data", (data) => {
      log += data;
      const listening = log.match(/listening on (http:\S+)/);
      if (listening && log.includes("ready:")) resolve(listening[1]);
    });
    child.on("exit", (status) => reject(new Error(`the server ended with ${status}: ${log}`)));
  });
  return { address, stop: () => new Promise((resolve) => child.once("exit", resolve) && child.kill("SIGTERM")) };
}
