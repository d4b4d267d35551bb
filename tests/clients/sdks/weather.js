// A tool whose arguments even a model that only tells stories gives, because they are constrained.
export const weather = {
  name: "weather",
  description: "Tells the weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string", enum: ["Rome", "Oslo"] }, days: { type: "integer", minimum: 1, maximum: 9 } },
    required: ["city", "days"],
    additionalProperties: false,
  },
};

export function isWeather({ city, days }) {
  return weather.parameters.properties.city.enum.includes(city) && Number.isInteger(days) && days >= 1 && days <= 9;
}
