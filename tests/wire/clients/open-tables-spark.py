"""Runs statements of Spark SQL on two executors in their own processes. Reads a statement per line and prints its rows as JSON.

Arguments: address of the catalog, token, jar of Iceberg's runtime for Spark."""

import json
import sys

from pyspark.sql import SparkSession

address, token, jar = sys.argv[1:4]
CATALOG = "spark.sql.catalog.plinth"
settings = {
    "spark.jars": jar,
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.executor.memory": "600m",
    CATALOG: "org.apache.iceberg.spark.SparkCatalog",
    f"{CATALOG}.type": "rest",
    f"{CATALOG}.uri": address,
    f"{CATALOG}.token": token,
    f"{CATALOG}.cache-enabled": "false",
}
builder = SparkSession.builder.appName("plinth").master("local-cluster[2,1,600]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
for line in sys.stdin:
    rows = [list(row) for row in spark.sql(line).collect()]
    print(json.dumps(rows), flush=True)
